"""The chat itself: read a text, do what it says, show what comes of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from local_react.cli import INTERRUPTED
from local_react.cli.agreement import agreement
from local_react.cli.ask import MOST_SOURCES, reason_of
from local_react.cli.chat.commands import Leave, carry_out
from local_react.cli.chat.conversation import Turn
from local_react.cli.chat.following import Following
from local_react.cli.door import account
from local_react.cli.ending import is_ending
from local_react.cli.output import exit_code_of
from local_react.cli.show import complain, figures
from local_react.errors import LocalReactError
from local_react.outside import cited

if TYPE_CHECKING:
    from local_react.cli.chat.conversation import Chat
    from local_react.cli.chat.reading import Reader
    from local_react.cli.chat.view import View
    from local_react.core import Run


def talk(chat: Chat, reader: Reader, view: View, *, typed: bool) -> int:
    """Answer what the reader gives until it leaves. Return 0 where it is `typed`, else the
    exit code of the last text that could not be answered."""
    code = 0
    while (text := _read(reader, view, typed=typed)) is not None:
        try:
            said = _done(chat, text, view) if text.strip() else 0
        except KeyboardInterrupt:
            if not typed or is_ending():
                raise
            view.note("stopped", dim=True)
            continue
        if said is None:
            break
        if said == INTERRUPTED and (not typed or is_ending()):
            return said
        code = said or code
    return 0 if typed else code


def _read(reader: Reader, view: View, *, typed: bool) -> str | None:
    """Return the next text, None at the end."""
    while True:
        try:
            return reader.read()
        except EOFError:
            return None
        except KeyboardInterrupt:
            if not typed or is_ending():
                raise
            if not reader.was_typing:
                view.note("Ctrl-D or /exit leaves", dim=True)


def _done(chat: Chat, text: str, view: View) -> int | None:
    """Do what a text says, and return the exit code that it stands for; None to leave."""
    try:
        said = carry_out(chat, text)
        if isinstance(said, Leave):
            return None
        if isinstance(said, Turn):
            return _answered(chat, said, view)
        view.note(said)
        return 0
    except LocalReactError as error:
        view.settle()
        complain(str(error))
        return error.exit_code
    except BrokenPipeError:  # nobody reads the answers any more
        raise
    except Exception as error:  # noqa: BLE001 - a fault of ours must not cost the conversation
        view.settle()
        complain(f"internal error: {type(error).__name__}: {error}. Please report it")
        return LocalReactError.exit_code


def _answered(chat: Chat, turn: Turn, view: View) -> int:
    """Have a question answered, show the answer, and return its exit code.

    Raises LocalReactError where it cannot be asked.
    """
    left, wiring = chat.session.left, chat.wiring
    wiring.network.begin()
    wiring.display.facts(turn.facts)
    run = _followed(chat, turn, view)
    chat.ended(turn, run)  # before it is told: what somebody has seen is kept
    _tell(chat, run, view)
    chat.tell_where()
    if chat.session.left > left:
        view.note(_left_out(chat.session.left), dim=True)
    view.end()
    return exit_code_of(run, refused=bool(wiring.network.refused)) if run else INTERRUPTED


def _followed(chat: Chat, turn: Turn, view: View) -> Run | None:
    """Show a run as it happens, and return it; None where it was left behind."""
    wiring = chat.wiring
    following = Following(
        view,
        partial(wiring.reading, chat.session.agent.model),
        unfolded=chat.unfolded,
        quiet=wiring.options["quiet"],
    )
    try:
        with view.answering():
            run = wiring.runner.run(partial(chat.ask, turn), chat.session.stop, following)
    except Exception:
        chat.failed(turn)
        raise
    if run is None or run.stop_reason == "interrupted":
        following.stopped()
        view.note("stopped" if run else "stopped, though a tool is still busy", dim=True)
    else:
        view.settle()
    return run


def _tell(chat: Chat, run: Run | None, view: View) -> None:
    """Show the answer, and what else there is to be known of a run."""
    network, display = chat.wiring.network, chat.wiring.display
    if run and run.answer:
        view.answer(run.answer)
        if (told := agreement(run)) and not chat.wiring.options["quiet"]:
            view.note(told, dim=True)
        display.sources(cited(run.answer, run.sources) or run.sources[:MOST_SOURCES])
    if network.exchanges or network.refused:
        display.egress(account(network))
    if run and not run.finished and run.stop_reason != "interrupted":
        complain(reason_of(run), colour="yellow")
    if run and chat.stats:
        view.note(figures(run), dim=True)


def _left_out(count: int) -> str:
    turns = (
        "turn no longer fits into the context and was"
        if count == 1
        else (f"{count} turns no longer fit into the context and were")
    )
    return f"the oldest {turns} left out"
