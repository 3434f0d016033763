"""Which replies are read for at the same time: those whose tokens the cache has room for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from local_react.backends.llama.context import LlamaContext
from local_react.backends.llama.replies import Reply

if TYPE_CHECKING:
    from local_react.backends.llama.model import LlamaModel

_SOON = 1.0
"""Seconds for which the cells of a context count as needed after its last batch: a run is
away for a moment between its steps, and would have to be read again."""
_LONG = 30.0
"""Seconds after which a reply whose tokens have no cells yet goes before those that have."""


def admitted(wanted: Sequence[Reply], model: LlamaModel, threads: Collection[int]) -> list[Reply]:
    """Return those of the replies to read for, begun: at least one, if any is wanted, and
    one for each context. `threads` are those that wait for them.

    Those that are under way go on. The others are begun while there should be cells for
    them: first those whose tokens are in the cache already, then as they came, because a
    run that has lost its cells between two steps has to be read again.
    """
    replies = list({reply.context: reply for reply in reversed(wanted)}.values())[::-1]
    going = [reply for reply in replies if reply.begun and reply.context.slot]
    if len(going) == len(replies):
        return going
    now = monotonic()
    others = [reply for reply in replies if reply not in going]
    others.sort(key=lambda reply: (_must_wait(reply, now), reply.entered))
    away = _soon_back(model, threads, now)
    count = len(going) + len(away)
    cells = sum(reply.cells for reply in going) + sum(map(_own_cells, away))
    cells += max(reply.shared for reply in replies)
    for reply in others:
        count, cells = count + 1, cells + reply.cells
        if going and (count > model.most_replies or cells > model.context_size):
            break
        reply.begin()
        going.append(reply)
    return going


def _must_wait(reply: Reply, now: float) -> bool:
    return reply.context.slot is None and now - reply.entered < _LONG


def _soon_back(model: LlamaModel, threads: Collection[int], now: float) -> list[LlamaContext]:
    """Return the contexts that are between two replies, in threads that don't wait here."""
    contexts = [one for one in model.engine.seated() if isinstance(one, LlamaContext)]
    return [
        context
        for context in contexts
        if context.slot and now - context.slot.at < _SOON and context.thread not in threads
    ]


def _own_cells(context: LlamaContext) -> int:
    return len(context.tokens) - context.shared
