"""Which sequence of the cache holds what, and for whom.

A slot is one native sequence, which holds the first tokens of a context while that
grows. A trunk is a slot of its own kind: the fixed beginning of many contexts, each of
which begins with a copy of it. Copies share their cells, so a trunk costs nothing
beside them; and because every context branches off exactly at a trunk's end, the sums
are made in the same batches whatever was asked before.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import Protocol

from local_react.backends.llama.evaluator import Evaluator


@dataclass(eq=False)
class Slot:
    """One sequence of the native cache."""

    sequence: int
    length: int = 0
    """How many tokens it holds."""
    used: int = 0
    """When it was last needed, by a clock of the slots' own."""
    at: float = 0.0
    """The same by the clock of the machine, in seconds."""
    owner: Callable[[], Owner | None] | None = None
    """Returns the context, or None once it is gone; a trunk has no owner."""
    unsure: bool = False
    """It may hold more than it is said to: Ctrl-C came while that was noted."""
    trunk: Slot | None = None
    """Where its first cells come from, which it shares."""


class Owner(Protocol):
    """A context that may have a slot."""

    slot: Slot | None


class Slots:
    """The slots of one context. Not for two threads at once."""

    def __init__(self, evaluator: Evaluator, sequences: int) -> None:
        self._evaluator = evaluator
        self._free = list(range(sequences))[::-1]
        self._trunks: dict[tuple[int, ...], Slot] = {}
        self._owned: list[Slot] = []
        self._clock = count()

    def touch(self, slot: Slot) -> None:
        """Note that a slot is needed now."""
        slot.used, slot.at = next(self._clock), monotonic()

    def trunk(self, tokens: tuple[int, ...]) -> Slot | None:
        """Return the trunk that holds exactly these tokens, if there is one."""
        slot = self._trunks.get(tokens)
        if slot is not None:
            self.touch(slot)
        return slot

    def drop_other_trunks(self, tokens: tuple[int, ...]) -> None:
        """Drop the trunks but that of these tokens, where no context has a slot: what lies
        in the cells before decides in which order sums are made."""
        self._drop_orphans()
        if not self._owned:
            for slot in [trunk for key, trunk in self._trunks.items() if key != tokens]:
                self.drop(slot)

    def new_trunk(self, tokens: tuple[int, ...], keep: Collection[Slot] = ()) -> Slot | None:
        """Return an empty slot, to be filled with the tokens of a new trunk; None where
        there is no sequence to be had."""
        slot = self._new(keep)
        if slot is not None:
            self._trunks[tokens] = slot
            self._owned.remove(slot)
        return slot

    def give(
        self, owner: Owner, source: Slot | None = None, keep: Collection[Slot] = ()
    ) -> Slot | None:
        """Give an owner a slot, a copy of `source` or else an empty one; return None
        where there is no sequence to be had. The slots to keep are left alone."""
        slot = self._new([*keep, source] if source else keep)
        if slot is None:
            return None
        if source is not None:
            self._evaluator.copy(source.sequence, slot.sequence)
            slot.length = source.length
            slot.trunk = source.trunk or source
        slot.owner = weakref.ref(owner)
        owner.slot = slot
        return slot

    def _new(self, keep: Collection[Slot]) -> Slot | None:
        self._drop_orphans()
        if not self._free and not self.make_room(keep):
            return None
        slot = Slot(self._free.pop(), used=next(self._clock))
        self._evaluator.drop(slot.sequence)  # if Ctrl-C came before it was emptied
        self._owned.append(slot)  # by nobody yet: if Ctrl-C comes now, it is an orphan
        return slot

    def _drop_orphans(self) -> None:
        # At once, although they might be of use: attention looks at every cell up to the
        # last one used, and where a context lies decides in which order sums are made.
        for slot in [slot for slot in self._owned if slot.owner is None or slot.owner() is None]:
            self.drop(slot)

    def make_room(self, keep: Collection[Slot] = ()) -> bool:
        """Drop the slot that was not needed for longest; return False where there is
        none but those to keep. A trunk that others share goes last: it has no cells of
        its own, and the next context would have to read it again."""
        shared = {id(slot.trunk) for slot in self._owned}
        slots = [s for s in (*self._owned, *self._trunks.values()) if s not in keep]
        if slots:
            self.drop(min(slots, key=lambda slot: (id(slot) in shared, slot.used)))
        return bool(slots)

    def owners(self) -> list[Owner]:
        """Return all who have a slot."""
        found = [slot.owner() for slot in self._owned if slot.owner]
        return [owner for owner in found if owner is not None]

    def drop(self, slot: Slot) -> None:
        """Empty a slot and take it back. Whoever had it reads its tokens again."""
        # Ctrl-C may come at every line: nobody must believe in a slot that is emptied.
        owner = slot.owner() if slot.owner else None
        if owner is not None:
            owner.slot = None
        if slot in self._owned:
            self._owned.remove(slot)
        self._trunks = {key: trunk for key, trunk in self._trunks.items() if trunk is not slot}
        self._free.append(slot.sequence)
        self._evaluator.drop(slot.sequence)

    def clear(self) -> None:
        """Empty all slots."""
        for slot in [*self._owned, *self._trunks.values()]:
            self.drop(slot)
