"""Commands about the turns of a conversation: taken back, shown, saved and loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local_react.as_dict import run_from_dict
from local_react.cli.chat.conversation import Turn
from local_react.cli.show import figures
from local_react.errors import UsageError
from local_react.history import SessionInfo
from local_react.history.store import now
from local_react.transcript.checking import check_runs

if TYPE_CHECKING:
    from local_react.cli.chat.conversation import Chat
    from local_react.core import Run


def undo(chat: Chat, argument: str) -> str:
    """Take the last turn back."""
    return f"taken back: {_short(chat.undo().question)}"


def retry(chat: Chat, argument: str) -> Turn:
    """Ask the last question again."""
    return chat.again()


def clear(chat: Chat, argument: str) -> str:
    """Begin a new conversation."""
    chat.clear()
    return "a new conversation"


def steps(chat: Chat, argument: str) -> str:
    """Have the steps shown whole, with those of the last answer, or folded."""
    from local_react.cli.sessions_shown import step_texts

    chat.unfolded = not chat.unfolded
    if not chat.unfolded:
        return "steps are folded to a line each"
    last = list(step_texts(chat.last.steps)) if chat.last else []
    return "\n".join([*last, "steps are shown whole"])


def stats(chat: Chat, argument: str) -> str:
    """Have tokens and seconds told, with those of the last answer, or not."""
    chat.stats = not chat.stats
    if not chat.stats:
        return "tokens and seconds are not told"
    last = [figures(chat.last)] if chat.last else []
    return "\n".join([*last, "tokens and seconds are told"])


def context(chat: Chat, argument: str) -> str:
    """Tell how much room there is."""
    size, room = chat.session.agent.model.context_size, chat.session.room
    known = len(chat.session.turns) - chat.session.left
    left = f", {chat.session.left} left out" if chat.session.left else ""
    return (
        f"{size - room:,} of {size:,} tokens are used, {room:,} are left; "
        f"{_turns(known)} known{left}"
    )


def session(chat: Chat, argument: str) -> str:
    """Tell which session it is, or go on with another one, or begin it."""
    if not argument:
        count = _turns(len(chat.session.turns))
        kept = "" if chat.log.keeps else ", which is not kept"
        return f"{chat.name or 'a session without a name yet'}: {count}{kept}"
    chat.go_on_with(argument)
    return _going_on(chat, argument)


def save(chat: Chat, argument: str) -> str:
    """Write the conversation to a file."""
    from local_react.cli.sessions_export import FORMS, write_new

    name = chat.name or "chat"
    path = Path(argument or f"{name}.json").expanduser()
    if not chat.session.turns:
        raise UsageError("there is nothing to save yet: ask something")
    if _is_there(path):
        raise UsageError(f"{path} is there already: /save FILE takes another name")
    form = {".md": "markdown", ".markdown": "markdown", ".jsonl": "jsonl"}.get(path.suffix, "json")
    first = chat.infos[0]
    info = SessionInfo(
        chat.log.session, name, first.time, now(), len(chat.infos), first.question[:200]
    )
    runs = list(zip(chat.infos, chat.session.turns, strict=True))
    text = FORMS[form](info, runs).encode("utf-8", "backslashreplace").decode()
    try:
        write_new(path, text, force=False)
    except ValueError as error:  # no file can be called so
        raise UsageError(f"{path} cannot be written: {error}") from error
    return f"saved: {path}"


def load(chat: Chat, argument: str) -> str:
    """Go on with a session, or with what was saved in a file."""
    if not argument:
        raise UsageError("/load takes the name of a session, or a file that /save wrote")
    path = Path(argument).expanduser()
    if _is_there(path):
        chat.take_up(_saved(path))
    else:
        chat.go_on_with(chat.log.history.find_session(argument).id)
    return _going_on(chat, argument)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # what no file can be called
        return False


def _saved(path: Path) -> list[Run]:
    """Return the runs in a file. Raises UsageError where it holds none."""
    try:
        text = path.read_text("utf-8")
        try:
            told: Any = json.loads(text)["runs"]
        except (ValueError, KeyError):  # JSON lines, one run each
            told = [json.loads(line) for line in text.splitlines()]
        runs = [run_from_dict(one) for one in told]
        check_runs(runs)
        return runs
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        reason = getattr(error, "strerror", None) or "it is no JSON that /save wrote"
        raise UsageError(f"{path} cannot be loaded: {reason}") from error


def _going_on(chat: Chat, name: str) -> str:
    if not chat.session.turns:
        return f"a new session: {name}"
    return f"going on with {name}: {_turns(len(chat.session.turns))}\n{latest(chat)}"


def latest(chat: Chat) -> str:
    """Return the last question and its answer."""
    last = chat.session.turns[-1]
    question = "\n".join(f"> {line}" for line in last.question.splitlines())
    return f"{question}\n{last.answer}"


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count:,} turns"


def _short(text: str) -> str:
    from local_react.outside import clean

    return clean(text, 100)
