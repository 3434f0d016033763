"""Commands about what is known beside the conversation: documents and facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_react.cli.typed import forget_typed
from local_react.errors import UsageError

if TYPE_CHECKING:
    from local_react.cli.chat.conversation import Chat


def docs(chat: Chat, argument: str) -> str:
    """Tell what documents there are, or find passages in them."""
    from local_react.documents import Library
    from local_react.documents.titles import readable

    library = Library()
    if argument:
        hits = library.search(argument, 3)
        told = [f"[{n}] {hit.name}, {hit.place}\n{hit.text}" for n, hit in enumerate(hits, 1)]
        return "\n\n".join(told) or "nothing found: try other words"
    roots = [f"{readable(root.path)}: {_files(root.files)}" for root in library.roots()]
    archives = [f"{path}: archive {title}" for path, title in library.archives()]
    none = "none: `local-react docs add PATH` adds a file or a folder"
    return "\n".join([*roots, *archives]) or none


def memory(chat: Chat, argument: str) -> str:
    """List what is remembered."""
    facts = chat.log.history.facts()
    return "\n".join(f"{fact.number:>4}  {fact.text}" for fact in facts) or (
        "nothing is remembered: /remember TEXT does"
    )


def remember(chat: Chat, argument: str) -> str:
    """Remember something."""
    if not argument:
        raise UsageError("/remember takes what is to be remembered: /remember I live in Bern")
    _refuse_in_private(chat)
    fact = chat.log.history.remember(argument)
    return f"remembered as {fact.number}: {fact.text}"


def forget(chat: Chat, argument: str) -> str:
    """Forget one thing; where the words fit several, tell which."""
    if not argument:
        raise UsageError("/forget takes a number that /memory shows, or words")
    _refuse_in_private(chat)
    fitting = chat.log.history.facts_that_fit(argument)
    if len(fitting) > 1:
        told = "".join(f"\n{fact.number:>4}  {fact.text}" for fact in fitting)
        return f"these fit; /forget takes the number of one:{told}"
    [fact] = chat.log.history.forget(str(fitting[0].number))
    forget_typed([fact.text])
    return f"forgotten: {fact.text}"


def _refuse_in_private(chat: Chat) -> None:
    if chat.wiring.options["private"]:
        raise UsageError("in private nothing is written, nor is what is remembered changed")


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"
