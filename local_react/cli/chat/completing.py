"""What TAB completes at the prompt: commands, and the names that they take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Final

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from local_react.cli.chat.commands import COMMANDS
from local_react.cli.completing import BUILTIN_TOOLS


class SlashCompleter(Completer):
    """Completes lines that begin with a slash."""

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Yield what the word before the cursor may become."""
        text = document.text_before_cursor
        if not text.startswith("/") or "\n" in document.text:
            return
        command, space, word = text[1:].partition(" ")
        if not space:
            for name, one in COMMANDS.items():
                if name.startswith(command):
                    yield Completion(name, -len(command), display_meta=one.help)
            return
        for name in self._names(command):
            if name.startswith(word):
                yield Completion(name, -len(word))

    def _names(self, command: str) -> Iterable[str]:
        with suppress(Exception):  # somebody is in the middle of a line
            return _NAMES.get(command, tuple)()
        return ()


def _models() -> Iterable[str]:
    from local_react.catalog import catalogue_names, installed_names

    return dict.fromkeys([*installed_names(), *catalogue_names()])


def _sessions() -> Iterable[str]:
    from local_react.history import History

    return [session.name for session in History().sessions()]


_NAMES: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    "model": _models,
    "session": _sessions,
    "load": _sessions,
    "tools": lambda: BUILTIN_TOOLS,
    "offline": lambda: ("on", "off"),
}
