"""The desk of a model, at which all ask who want replies: one batch for all of them.

Threads that write replies with one model ask here for their next piece and wait. One of
those that wait leads: it waits until all ask who have a place, reads one batch for them,
and hands out the pieces. No reply gets further than its consumer has asked for, and a
consumer that stays away is left out.

One lock guards who is here and who leads; whoever holds it waits for no other, so that a
consumer may leave at any moment, garbage collection included. The lock of the model guards
the native context: the leader has it for one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from copy import copy
from threading import Condition, RLock, get_ident
from time import monotonic
from typing import TYPE_CHECKING

from local_react.backends.llama.admission import admitted
from local_react.backends.llama.engine import Reader
from local_react.backends.llama.native import check_process, interruptible, is_forked
from local_react.backends.llama.replies import Consumer, Reply

if TYPE_CHECKING:
    from local_react.backends.llama.model import LlamaModel

_PATIENCE = 0.02
"""Seconds that a batch waits for a consumer that was given a piece and has not asked for
the next: a batch of many costs little more than one of one, so to wait pays, but not for
one that is busy with something else. Once for each time that it stays away."""


class Desk:
    """The consumers of one model's replies."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._changed = Condition(self._lock)
        self._consumers: list[Consumer] = []
        """All who have a place, in the order in which they came."""
        self._leader: Consumer | None = None
        self._visitors: set[object] = set()

    def pieces(
        self, model: LlamaModel, begin: Callable[[], Iterator[Reply]]
    ) -> Generator[tuple[int, str], None, None]:
        """Yield the pieces of the replies that `begin` gives, each with its number."""
        consumer = Consumer()
        try:
            for reply in begin():  # with those before it, if one cannot be begun
                consumer.replies.append(reply)
            with self._lock:
                self._consumers.append(consumer)
            while written := self._asked(model, consumer):
                yield from written
        finally:
            self._leave(consumer)

    @contextmanager
    def visit(self, model: LlamaModel) -> Iterator[None]:
        """Have the native context alone within the block, after the batch under way."""
        check_process()
        visitor = object()
        try:
            with self._lock:
                self._visitors.add(visitor)
            with model.lock:
                yield
        finally:
            with self._lock:
                self._visitors.discard(visitor)
                self._changed.notify_all()

    # -- asking ------------------------------------------------------------------------

    def _asked(self, model: LlamaModel, consumer: Consumer) -> list[tuple[int, str]]:
        """Return the next pieces for a consumer, nothing at the end of its replies."""
        model.check_open()
        consumer.end_those_over()
        if not consumer.replies:
            return []
        try:
            with self._lock:
                consumer.asking, consumer.thread = True, get_ident()
                if self._leader is not None and not self._patience():
                    self._changed.notify_all()
            while self._is_to_lead(consumer):
                self._lead(model, consumer)
        finally:
            if self._leader is consumer:
                with self._lock:
                    self._leader = None
                    self._changed.notify_all()
        return consumer.take()

    def _is_to_lead(self, consumer: Consumer) -> bool:
        """Wait until the consumer has its answer, or is the one to lead: then return True."""
        with self._lock:
            while consumer.asking and self._leader not in (None, consumer):
                self._changed.wait()
            if consumer.asking:
                self._leader = consumer
            return consumer.asking

    def _patience(self) -> float:
        """Return the seconds to wait for those that were given a piece just now. Not for
        those whose thread asks for something else: it cannot come back before."""
        threads = {consumer.thread for consumer in self._consumers if consumer.asking}
        away = [c.since for c in self._consumers if not c.asking and c.thread not in threads]
        return max(0.0, max(away) + _PATIENCE - monotonic()) if away else 0.0

    def _leave(self, consumer: Consumer) -> None:
        """Give up a consumer's place, and end its replies where they are."""
        if is_forked():  # it has its place in another process
            return
        contexts = [reply.context for reply in consumer.replies]
        with self._lock:
            consumer.asking, consumer.gone = False, True
            try:
                for context in contexts:
                    context.let_go = consumer.reading
                while consumer.reading and self._leader not in (None, consumer):
                    self._changed.wait()  # Ctrl-C came while it waited itself
            finally:
                for context in contexts:
                    context.let_go = False
            self._dismiss(consumer)
        consumer.close()

    def _dismiss(self, consumer: Consumer) -> None:
        if consumer in self._consumers:
            self._consumers.remove(consumer)
        if self._leader is consumer:
            self._leader = None
        self._changed.notify_all()

    # -- leading -----------------------------------------------------------------------

    def _lead(self, model: LlamaModel, leader: Consumer) -> None:
        """Read one batch for all who ask, and give out what that comes to."""
        consumers: list[Consumer] = []
        try:
            self._gather(consumers)
            with model.lock:
                model.check_open()
                self._read(model, consumers)
        except Exception as error:  # noqa: BLE001 - raised in all threads that it stops
            for consumer in consumers:
                consumer.error = error if consumer is leader else copy(error)
        finally:
            self._give_out(consumers)

    def _gather(self, consumers: list[Consumer]) -> None:
        """Wait for those who ought to ask soon, and add all who ask."""
        with self._lock:
            while self._visitors or (seconds := self._patience()):
                self._changed.wait(None if self._visitors else seconds)
            self._clear_up()
            consumers += [consumer for consumer in self._consumers if consumer.asking]
            for consumer in consumers:
                consumer.reading = True

    def _clear_up(self) -> None:
        """Do what a second Ctrl-C has kept others from doing."""
        self._give_out([consumer for consumer in self._consumers if consumer.reading])
        for consumer in [consumer for consumer in self._consumers if consumer.gone]:
            self._dismiss(consumer)
            consumer.close()

    def _read(self, model: LlamaModel, consumers: Sequence[Consumer]) -> None:
        """Read one batch and choose the tokens that can be chosen."""
        whose: dict[Reply, Consumer] = {}
        for consumer in consumers:
            consumer.end_those_over()
            whose.update(dict.fromkeys(consumer.replies, consumer))
        threads = {consumer.thread for consumer in consumers}
        replies: dict[Reader, Reply] = {
            reply.context: reply for reply in admitted(list(whose), model, threads)
        }
        if not replies:
            return
        ready = model.engine.read(list(replies))
        # What was chosen for others has to reach them, whatever happens to this thread.
        with interruptible() if len(consumers) > 1 else nullcontext():
            for context, logits in ready:
                reply = replies[context]
                if not whose[reply].gone:
                    whose[reply].write(reply, logits)

    def _give_out(self, consumers: Sequence[Consumer]) -> None:
        with self._lock:
            now = monotonic()
            for consumer in consumers:
                consumer.reading = False
                if consumer.has_answer:
                    consumer.asking, consumer.since = False, now
            self._changed.notify_all()
