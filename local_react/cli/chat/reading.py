"""What the user says: typed at a prompt with history and editing, or read line by line."""

from __future__ import annotations

import io
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Final, Protocol

import click

from local_react.cli.chat.commands import is_open
from local_react.cli.show import complain
from local_react.cli.typed import prepare, typed_file

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import History
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    from prompt_toolkit.output import Output

_PROMPT: Final = "> "
_GOES_ON: Final = ". "


class Reader(Protocol):
    """Where the user's lines come from."""

    def read(self) -> str:
        """Return the next text. Raises EOFError at the end, and KeyboardInterrupt at Ctrl-C."""
        ...

    @property
    def was_typing(self) -> bool:
        """Whether Ctrl-C threw a text away that was being typed."""
        ...


class Lines:
    """Lines of standard input, with a prompt where it is a terminal."""

    def __init__(self, stream: IO[str] | None) -> None:
        self._stream = stream or io.StringIO()
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
        self._prompts = self._stream.isatty()
        self.was_typing = False

    def read(self) -> str:
        """Return the next line, or a block of several. Raises EOFError at the end."""
        text = self._line(_PROMPT)
        while is_open(text):
            try:
                text += f"\n{self._line(_GOES_ON)}"
            except EOFError:
                break
        return text.removeprefix("\ufeff")

    def _line(self, prompt: str) -> str:
        if self._prompts:
            click.echo(prompt, err=True, nl=False)
        line = self._stream.readline()
        if not line:
            raise EOFError
        return line.rstrip("\r\n")


class Prompt:
    """A prompt on a terminal."""

    def __init__(self, output: Output, *, keeps: bool) -> None:
        from prompt_toolkit import PromptSession

        from local_react.cli.chat.completing import SlashCompleter

        self._session: PromptSession[str] = PromptSession(
            _PROMPT,
            output=output,
            history=_history(keeps=keeps),
            multiline=True,
            prompt_continuation=_GOES_ON,
            key_bindings=_keys(),
            completer=SlashCompleter(),
            complete_while_typing=False,
            enable_suspend=True,
        )

    @property
    def was_typing(self) -> bool:
        """Whether there was something at the prompt when it was left."""
        return bool(self._session.default_buffer.text)

    def read(self) -> str:
        """Return what was typed. Raises EOFError at Ctrl-D, and KeyboardInterrupt at Ctrl-C."""
        # Half characters, which a terminal of another encoding sends, fit nowhere else.
        return self._session.prompt().encode("utf-8", "replace").decode()


def _history(*, keeps: bool) -> History:
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    if not keeps or not _is_ours():
        return InMemoryHistory()

    class Kept(FileHistory):
        def store_string(self, string: str) -> None:
            with suppress(OSError):  # a full disk must not end the chat
                if _is_ours():  # it may have been deleted meanwhile
                    super().store_string(string)

    return Kept(typed_file())


def _is_ours() -> bool:
    """Return whether the file can be written, by its owner alone; it is made if missing."""
    try:
        with prepare().open("ab"):
            return True
    except OSError as error:
        complain(f"what is typed is not kept in {typed_file()}: {error.strerror}", colour="yellow")
        return False


def _keys() -> KeyBindings:
    """Return Enter, which asks, and Alt-Enter, which begins a new line."""
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()

    @keys.add("<vt100-mouse-event>")
    def nothing(event: KeyPressEvent) -> None:
        """Colours that were pasted look like what a mouse sends."""

    @keys.add("enter")
    def enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_open(buffer.text):
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys
