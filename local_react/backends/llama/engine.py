"""What contexts have grown by is read, many of them in one batch, and nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol, TypeAlias

from local_react.backends.llama.evaluator import Evaluator, Outcome, Row
from local_react.backends.llama.slots import Owner, Slot, Slots
from local_react.backends.llama.warm_start import WarmStart
from local_react.backends.sampling import Logits
from local_react.core import Usage
from local_react.errors import ModelError


class Reader(Owner, Protocol):
    """What the engine reads for: a context."""

    @property
    def tokens(self) -> Sequence[int]:
        """All its tokens. They only grow."""
        ...

    @property
    def fixed(self) -> int:
        """How many of them, from the first, begin every run."""
        ...

    @property
    def usage(self) -> Usage:
        """What was read and written for it."""
        ...

    def stopped(self) -> bool:
        """Return True once nothing more is wanted."""
        ...

    def has_read(self, count: int) -> None:
        """Count tokens that were evaluated for it."""
        ...


Ready: TypeAlias = list[tuple[Reader, Logits]]
"""Those that are read to their end, with the logits after their last token: a view that the
next batch changes."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """How the fixed beginning of the last new context was come by."""

    seconds: float = 0.0
    kept: bool = False
    """It was kept by an earlier process, or is still here, and was not read."""


class Engine:
    """Not for two threads at once."""

    def __init__(
        self,
        evaluator: Evaluator,
        slots: Slots,
        warm_start: WarmStart | None,
        or_larger: str = "",
    ) -> None:
        self._full = f"the cache of the context is full: ask for less at once{or_larger}"
        self._evaluator = evaluator
        self._slots = slots
        self._warm_start = warm_start
        self._latest: dict[Slot, int] = {}
        """Whose logits the evaluator still has, and in which row."""
        self.prefix = Prefix()
        self._spent = 0.0
        """Seconds so far on a fixed beginning that is not there yet."""
        self.reading = (0, 0)
        """How far a text of several batches is read: tokens read, and its tokens."""

    def read(self, readers: Sequence[Reader]) -> Ready:
        """Read one batch for the readers: the new tokens of each as far as they fit, of
        those first that have the fewest. One that has no slot afterwards has to wait: there
        is no room in the cache, or more of its fixed tokens has to be read first.

        Raises ModelError where llama.cpp fails, and KeyboardInterrupt on Ctrl-C; what
        was read in earlier batches is kept.
        """
        for reader in readers:
            if reader.slot is None:
                keep = [other.slot for other in readers if other.slot]
                if not self._seat(reader, keep):
                    break  # those behind may need the same beginning
        known: Ready = []
        seats: list[tuple[Reader, Slot]] = []
        # After all are seated, because that may take batches of its own.
        for reader in readers:
            slot = reader.slot
            if slot is None or not self._is_sound(slot):
                continue
            self._slots.touch(slot)
            if slot.length == len(reader.tokens):
                known += self._known(reader, slot)
            else:
                seats.append((reader, slot))
        if known or not seats:  # what is known is lost with the next batch
            return known
        if len(seats) > 1:
            seats.sort(key=lambda seat: len(seat[0].tokens) - seat[1].length)
        return self._read_batch(seats)

    def read_but_last(self, reader: Reader) -> Slot | None:
        """Read all of a reader's tokens but the last; return its slot, or None where it
        was stopped or the slot holds the last one too and cannot give it up."""
        wanted = len(reader.tokens) - 1
        if reader.slot is None or not self._is_sound(reader.slot):
            while not self._seat(reader, ()):
                pass
        slot = reader.slot
        while slot is not None and slot.length < wanted:
            tokens = reader.tokens[slot.length : min(wanted, slot.length + self._evaluator.batch)]
            if not self._read_for(reader, slot, tokens, ()):
                return None
        if slot is not None and slot.length > wanted and not self._cut(slot, wanted):
            return None
        return slot

    def branch(self, reader: Reader, slot: Slot) -> None:
        """Give a new reader a copy of a slot, where there is a sequence for it."""
        self._slots.give(reader, slot)

    def seated(self) -> list[Owner]:
        """Return all who have a place in the cache."""
        return self._slots.owners()

    def slot_of(self, reader: Reader) -> Slot:
        """Return the reader's slot, for measurements."""
        assert reader.slot is not None, "it has no place in the cache"
        return reader.slot

    def give_up(self, slot: Slot) -> None:
        """Empty a slot and take it back."""
        self._slots.drop(slot)

    def _read_batch(self, seats: list[tuple[Reader, Slot]]) -> Ready:
        seats = seats[: self._evaluator.batch]
        last, slot = seats[-1]
        self.reading = (slot.length, len(last.tokens))
        while True:
            rows = _rows(seats, self._evaluator.batch)
            slots = [slot for _, slot in seats]
            outcome = self._decode(
                rows, slots, lambda: any(reader.stopped() for reader, _ in seats)
            )
            if outcome != "no room":
                break
            if self._slots.make_room(slots):
                continue
            if len(seats) == 1:
                raise ModelError(self._full)
            self._slots.drop(seats.pop()[1])
        if outcome == "stopped":
            return []
        complete = [seat for seat, row in zip(seats, rows, strict=False) if row.complete]
        logits = self._evaluator.logits(len(complete))
        self._latest = {slot: index for index, (_, slot) in enumerate(complete)}
        ready = [(reader, logits[index]) for index, (reader, _) in enumerate(complete)]
        for (reader, slot), row in zip(seats, rows, strict=False):
            _note(reader, slot, len(row.tokens))
        return ready

    def _known(self, reader: Reader, slot: Slot) -> Ready:
        """Return the reader with its logits, if they are still there; else see to it
        that its last token is read again."""
        if slot in self._latest:
            rows = self._evaluator.logits(len(self._latest))
            return [(reader, rows[self._latest[slot]])]
        self._cut(slot, slot.length - 1)
        return []

    def _seat(self, reader: Reader, keep: Sequence[Slot]) -> bool:
        """Give a reader a slot, if one is to be had without those to keep; return False
        where more of its fixed tokens has to be read first: one batch of them is read."""
        started, read = perf_counter(), reader.usage.evaluated
        if self._warm_start is not None:  # else they would have to be read again
            self._slots.drop_other_trunks(tuple(reader.tokens[: reader.fixed]))
        trunk = self._trunk(reader, keep) if reader.fixed else None
        self._spent += perf_counter() - started
        if trunk is not None and trunk.length < reader.fixed:
            return False
        self.prefix = Prefix(self._spent, reader.usage.evaluated == read)
        self._spent = 0.0
        if not reader.stopped():
            self._slots.give(reader, trunk, keep)
        return True

    def _trunk(self, reader: Reader, keep: Sequence[Slot]) -> Slot | None:
        """Return the slot that holds the reader's fixed tokens: found, fetched from an
        earlier process, or read, by one batch more at a time, so that others get on with
        theirs. None where it was stopped, or none is to be had."""
        tokens = tuple(reader.tokens[: reader.fixed])
        slot = self._slots.trunk(tokens)
        if slot is None or not self._is_sound(slot):
            slot = self._slots.new_trunk(tokens, keep)
        if slot is None:
            return None
        if slot.length == len(tokens) or (slot.length == 0 and self._fetch(slot, tokens)):
            return slot
        new = tokens[slot.length : slot.length + self._evaluator.batch]
        if not self._read_for(reader, slot, new, keep):
            return None
        if slot.length == len(tokens):
            self._keep(slot, tokens)
        return slot

    def _keep(self, slot: Slot, tokens: tuple[int, ...]) -> None:
        """Keep a new trunk for the next process."""
        state = self._evaluator.state(slot.sequence)
        if self._warm_start is not None:
            self._warm_start.save(tokens, state)
        # Of windowed layers the state holds the window alone, in other cells than before,
        # and so sums are made in another order. Taken back at once, they are made in the
        # same order in this process and the next.
        slot.length = 0
        self._evaluator.drop(slot.sequence)
        if not self._evaluator.restore(slot.sequence, state):
            self._slots.drop(slot)
            raise ModelError("llama.cpp could not take back what it had read")
        slot.length = len(tokens)

    def _fetch(self, slot: Slot, tokens: tuple[int, ...]) -> bool:
        """Fill an empty slot from an earlier process; return False where that failed."""
        self._evaluator.drop(slot.sequence)  # if Ctrl-C has left something there
        state = self._warm_start.load(tokens) if self._warm_start else None
        if state is None or self._warm_start is None:
            return False
        if not self._evaluator.restore(slot.sequence, state):
            self._warm_start.remove(tokens)
            return False
        slot.length = len(tokens)
        return True

    def _read_for(
        self, reader: Reader, slot: Slot, tokens: Sequence[int], keep: Sequence[Slot]
    ) -> bool:
        """Read tokens into one slot; return False where it was stopped, or there is no
        room without the slots to keep."""
        row = Row(slot.sequence, slot.length, tokens, complete=False)
        self.reading = (slot.length, len(reader.tokens))
        while (outcome := self._decode([row], [slot], reader.stopped)) == "no room":
            if self._slots.make_room([slot, *keep]):
                continue
            if not keep:
                raise ModelError(self._full)
            return False
        if outcome == "read":
            _note(reader, slot, len(tokens))
        return outcome == "read"

    def _decode(
        self, rows: Sequence[Row], slots: Sequence[Slot], stop: Callable[[], bool]
    ) -> Outcome:
        """Decode the rows of the slots, which hold afterwards what they are said to."""
        self._latest = {}
        outcome: Outcome = "stopped"
        for slot in slots:
            slot.unsure = True  # until it is noted what they hold
        try:
            outcome = self._evaluator.decode(rows, stop)
        finally:
            if outcome == "stopped":  # by Ctrl-C or an error, too
                self._mend(slots)
        if outcome == "no room":
            for slot in slots:
                slot.unsure = False
        return outcome

    def _is_sound(self, slot: Slot) -> bool:
        """Mend a slot where that is needed; return False where it had to be dropped."""
        return not slot.unsure or self._cut(slot, slot.length)

    def _mend(self, slots: Sequence[Slot]) -> None:
        """See to it that slots hold what they are said to, after a batch of theirs was
        broken off."""
        if self._evaluator.recurrent and len(slots) > 1:
            # llama.cpp moves the states about within a batch: not even those of other
            # sequences are what they were.
            self._slots.clear()
            self._evaluator.clear()
            return
        for slot in slots:
            self._cut(slot, slot.length)

    def _cut(self, slot: Slot, length: int) -> bool:
        """Cut a slot back. Where its kind of memory cannot, the slot is dropped, to be
        read again, and False returned."""
        if self._evaluator.cut(slot.sequence, length):
            slot.length, slot.unsure = length, False
            return True
        self._slots.drop(slot)
        return False


def _note(reader: Reader, slot: Slot, count: int) -> None:
    """Note that so many tokens more are read."""
    slot.length += count
    slot.unsure = False
    reader.has_read(count)


def _rows(seats: Sequence[tuple[Reader, Slot]], room: int) -> list[Row]:
    """Return what to read for each, at most so many tokens in all. Those at the end may get
    nothing this time: they have no row."""
    rows = []
    for reader, slot in seats:
        new = reader.tokens[slot.length : slot.length + room]
        if not new:
            break
        complete = slot.length + len(new) == len(reader.tokens)
        rows.append(Row(slot.sequence, slot.length, new, complete))
        room -= len(new)
    return rows
