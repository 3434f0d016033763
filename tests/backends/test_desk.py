"""Threads that write with one model: one batch for all of them, and nobody in the way."""

from __future__ import annotations

import gc
import os
import random
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tiny_model import ARCHITECTURES, TEMPLATE, write_tiny_model

from local_react import Agent, LlamaModel, Sampling, tool
from local_react.backends.llama import LlamaContext, admission, desk
from local_react.backends.llama.admission import admitted
from local_react.backends.llama.evaluator import Evaluator, Row
from local_react.backends.llama.replies import reply_of
from local_react.core import Message, Request
from local_react.errors import GrammarError, ModelError

WARM = Sampling(temperature=1.0, seed=5)
TWENTY = "root ::= [a-g]{20}"
SYSTEM = Message("system", "long instructions " * 20)
LONG = 600.0
"""Seconds: as good as for ever."""


@pytest.fixture(scope="module", params=["llama", "gemma3", "lfm2", "mamba"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file of each kind of memory."""
    assert request.param in ARCHITECTURES
    directory = tmp_path_factory.mktemp("kinds")
    return write_tiny_model(directory / f"{request.param}.gguf", architecture=request.param)


@pytest.fixture
def model(path: Path) -> Iterator[LlamaModel]:
    with LlamaModel(path, threads=1, warm_start=False) as model:
        yield model


@pytest.fixture
def simple(tiny_path: Path) -> Iterator[LlamaModel]:
    """A fresh one with plain attention."""
    with LlamaModel(tiny_path, threads=1, warm_start=False) as model:
        yield model


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[list[Row]]:
    """The rows of each batch that is read from now on."""
    found: list[list[Row]] = []
    real = Evaluator.decode

    def decode(self: Evaluator, rows: Sequence[Row], stop: Callable[[], bool]) -> Any:
        found.append(list(rows))
        return real(self, rows, stop)

    monkeypatch.setattr(Evaluator, "decode", decode)
    return found


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds for which batches wait from now on."""
    found: list[float] = []
    real = threading.Condition.wait

    def wait(self: threading.Condition, timeout: float | None = None) -> bool:
        if timeout is not None and timeout <= desk._PATIENCE:
            found.append(timeout)
        return real(self, timeout)

    monkeypatch.setattr(threading.Condition, "wait", wait)
    return found


def chat(question: str) -> list[Message]:
    return [SYSTEM, Message("user", question)]


def started(model: LlamaModel, count: int) -> list[LlamaContext]:
    return [model.start(chat(f"question {number}"), fixed=True) for number in range(count)]


def whole(reply: Iterator[str]) -> str:
    return "".join(reply)


def twenty(context: LlamaContext) -> str:
    return whole(context.generate(TWENTY, WARM))


def in_threads(jobs: Sequence[Callable[[], Any]]) -> list[Future[Any]]:
    """Run each job in a thread of its own, and return when all are done. A thread that
    hangs fails the test."""
    pool = ThreadPoolExecutor(len(jobs))
    futures = [pool.submit(job) for job in jobs]
    try:
        for future in futures:
            future.exception(timeout=120)
    finally:
        pool.shutdown(wait=False)
    return futures


def written(model: LlamaModel, context: LlamaContext, before: int) -> str:
    """Return what the tokens of a context beyond so many say."""
    return model.vocabulary.text_of(context.tokens[before:])


# -- one batch for all ---------------------------------------------------------------


def test_threads_write_in_the_same_batches(
    model: LlamaModel, batches: list[list[Row]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each has begun when the threads go on, and a batch waits for all of them.
    monkeypatch.setattr(desk, "_PATIENCE", LONG)
    replies = [context.generate(TWENTY, WARM) for context in started(model, 5)]
    first = [next(reply) for reply in replies]
    batches.clear()
    done = in_threads([partial(whole, reply) for reply in replies])
    texts = [start + future.result() for start, future in zip(first, done, strict=True)]
    assert all(re.fullmatch("[a-g]{20}", text) for text in texts)
    assert max(map(len, batches)) == 5
    # As many as the longest of them needs (a token is a letter or "th"), and some where
    # a thread came last to its end.
    assert len(batches) <= 21


def test_a_reply_gets_no_further_than_it_was_asked_for(model: LlamaModel) -> None:
    held, *others = started(model, 4)
    before = len(held.tokens)
    reply = held.generate(TWENTY, WARM)
    seen = next(reply) + next(reply)
    usage, tokens = held.usage, list(held.tokens)
    done = in_threads([partial(twenty, c) for c in others])
    assert all(re.fullmatch("[a-g]{20}", future.result()) for future in done)
    assert (held.usage, list(held.tokens)) == (usage, tokens)
    assert written(model, held, before) == seen
    seen += "".join(reply)
    assert re.fullmatch("[a-g]{20}", seen)
    assert written(model, held, before) == seen


def test_each_may_break_off_where_it_wants(model: LlamaModel) -> None:
    def some(context: LlamaContext, count: int) -> tuple[str, int]:
        text, before = "", context.usage.generated
        for piece in context.generate("root ::= [a-g]{200}", WARM):
            text += piece
            if context.usage.generated - before == count:
                break
        return text, len(context.tokens)

    contexts = started(model, 5)
    before = [len(context.tokens) for context in contexts]
    done = in_threads([partial(some, c, 3 * n + 1) for n, c in enumerate(contexts)])
    for number, (context, future) in enumerate(zip(contexts, done, strict=True)):
        text, length = future.result()
        assert context.usage.generated == 3 * number + 1
        assert length == len(context.tokens) == before[number] + 3 * number + 1
        assert written(model, context, before[number]) == text


def test_many_requests_of_one_thread_join_those_of_others(model: LlamaModel) -> None:
    def many(contexts: Sequence[LlamaContext]) -> list[str]:
        texts = [""] * len(contexts)
        for number, piece in model.generate_many([Request(c, TWENTY, WARM) for c in contexts]):
            texts[number] += piece
        return texts

    contexts = started(model, 5)
    before = [len(context.tokens) for context in contexts]
    alone, together, more = contexts[:1], contexts[1:3], contexts[3:]
    done = in_threads([partial(many, g) for g in (alone, together, more)])
    texts = [text for future in done for text in future.result()]
    assert all(re.fullmatch("[a-g]{20}", text) for text in texts)
    assert texts == [written(model, c, at) for c, at in zip(contexts, before, strict=True)]


def test_agents_in_threads_each_come_to_their_end(model: LlamaModel) -> None:
    @tool
    def look(number: int) -> str:
        """Look something up."""
        return f"{number}: nothing yet"

    agent = Agent(model, [look], max_steps=3, thought_tokens=20, action_tokens=40)
    runs = [f.result() for f in in_threads([partial(agent.run, f"q {n}") for n in range(6)])]
    for run in runs:
        assert run.steps
        assert run.usage.evaluated == sum(step.usage.evaluated for step in run.steps)


def test_thinking_joins_too(tmp_path: Path, batches: list[list[Row]]) -> None:
    template = TEMPLATE.replace("assistant\n", "assistant\n{{ '' }}<think>\n") + "{# </think> #}"
    path = write_tiny_model(tmp_path / "t.gguf", template=template, control=("<think>", "</think>"))
    with LlamaModel(path, threads=1, warm_start=False) as model:

        def thought(context: LlamaContext) -> list[str]:
            return list(context.think(30, seed=7))

        contexts = started(model, 4)
        done = in_threads([partial(thought, c) for c in contexts])
        assert all(1 <= len(future.result()) <= 30 for future in done)
        assert all("</think>" in written(model, c, 0) for c in contexts)
        assert max(map(len, batches)) > 1


# -- what is shared ------------------------------------------------------------------


def test_the_common_beginning_is_read_once_for_threads_that_start_together(
    model: LlamaModel,
) -> None:
    contexts = started(model, 6)
    at_once = threading.Barrier(6)

    def ask(context: LlamaContext) -> str:
        at_once.wait()
        return "".join(context.generate(TWENTY, WARM))

    for future in in_threads([partial(ask, c) for c in contexts]):
        assert re.fullmatch("[a-g]{20}", future.result())
    own = sum(len(context.tokens) - context.fixed for context in contexts)
    read = sum(context.usage.evaluated for context in contexts)
    assert contexts[0].fixed > 300
    assert read <= contexts[0].fixed + own + 2 * 6  # a token or two might be read again


def test_a_long_beginning_of_one_does_not_stop_the_others(
    simple: LlamaModel, batches: list[list[Row]]
) -> None:
    long = [Message("system", "x" * 2000), Message("user", "q")]
    short = simple.start([Message("user", "q")])
    request, other = Request(short, "root ::= [a-g]{9}", WARM), simple.start(long, fixed=True)
    pieces = simple.generate_many([request, Request(other, "root ::= [a-g]{9}", WARM)])
    order = [number for number, _ in pieces]
    assert order[:4] == [0] * 4  # between the batches in which the other is read
    assert other.usage.evaluated == len(other.tokens)
    longest = max(len(row.tokens) for rows in batches for row in rows)
    assert longest == simple._evaluator.batch


# -- who is away ---------------------------------------------------------------------


def test_who_stays_away_is_waited_for_once(simple: LlamaModel, waits: list[float]) -> None:
    held, other = started(simple, 2)
    reply = held.generate(TWENTY, WARM)
    next(reply)
    waits.clear()
    [done] = in_threads([partial(twenty, other)])
    assert re.fullmatch("[a-g]{20}", done.result())
    assert sum(waits) <= 2 * desk._PATIENCE


def test_a_thread_is_not_waited_for_while_it_waits_itself(
    simple: LlamaModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "_PATIENCE", LONG)
    outer, inner = started(simple, 2)
    texts = ["", ""]
    for piece in outer.generate("root ::= [a-g]{5}", WARM):
        texts[0] += piece
        if len(texts[0]) == 2:  # as a tool might do
            texts[1] = "".join(inner.generate("root ::= [a-g]{5}", WARM))
    assert [len(text) for text in texts] == [5, 5]


def test_who_is_held_for_ever_does_not_keep_its_cells(tiny_path: Path) -> None:
    with LlamaModel(tiny_path, threads=1, context_size=512, warm_start=False) as model:
        held = model.start([Message("user", "x" * 300)])
        reply = held.generate(TWENTY, WARM)
        seen = next(reply)
        others = [model.start([Message("user", "y" * 300)]) for _ in range(2)]
        done = in_threads([partial(twenty, c) for c in others])
        assert all(re.fullmatch("[a-g]{20}", future.result()) for future in done)
        assert re.fullmatch("[a-g]{20}", seen + "".join(reply))


def test_threads_that_do_not_fit_together_wait_for_each_other(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "_SOON", LONG)
    monkeypatch.setattr(admission, "_LONG", LONG)
    with LlamaModel(path, threads=1, context_size=512, warm_start=False) as model:
        contexts = [model.start([Message("user", f"{n} " + "x" * 60)]) for n in range(10)]

        def talk(context: LlamaContext) -> list[str]:
            texts = []
            for turn in range(3):
                texts.append("".join(context.generate("root ::= [a-g]{40}", WARM)))
                context.append(Message("user", f"more {turn}"))
            return texts

        for context, future in zip(
            contexts, in_threads([partial(talk, c) for c in contexts]), strict=True
        ):
            assert [len(text) for text in future.result()] == [40] * 3
            assert context.usage.generated == 120
        # A run keeps its cells until it is over: little has to be read again. (More where a
        # thread gets no turn of the machine for long; else 2.3 times all of it.)
        read = sum(context.usage.evaluated for context in contexts)
        assert read < 1.8 * sum(len(context.tokens) for context in contexts)


def test_who_has_cells_goes_first_but_not_for_ever(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LlamaModel(tiny_path, threads=1, context_size=512, warm_start=False) as model:
        seated, other = (model.start([Message("user", "x" * 300)]) for _ in range(2))
        twenty(seated)
        first, second = (reply_of(context, TWENTY, WARM) for context in (other, seated))
        assert admitted([first, second], model, {threading.get_ident()}) == [second]
        second.begun = False
        monkeypatch.setattr(admission, "_LONG", 0.0)
        assert admitted([first, second], model, {threading.get_ident()}) == [first]
        first.close()
        second.close()


def test_two_replies_of_one_context_take_turns(model: LlamaModel) -> None:
    [context] = started(model, 1)
    before = len(context.tokens)
    grammar = 'root ::= "Thought: " [a-g]{20}'
    done = in_threads([partial(whole, context.generate(grammar, WARM)) for _ in range(2)])
    pieces = [future.result() for future in done]
    assert all(re.fullmatch("Thought: [a-g]{20}", text) for text in pieces)
    assert sorted(written(model, context, before)) == sorted("".join(pieces))


def test_more_threads_than_the_cache_has_sequences(path: Path) -> None:
    with LlamaModel(path, threads=1, warm_start=False) as model:
        contexts = started(model, 45)
        done = in_threads([partial(twenty, c) for c in contexts])
        assert all(re.fullmatch("[a-g]{20}", future.result()) for future in done)


# -- what goes wrong -----------------------------------------------------------------


def test_a_bad_grammar_is_the_error_of_who_brought_it(model: LlamaModel) -> None:
    grammars = [TWENTY, "root ::= (", TWENTY, "root ::= missing"]
    contexts = started(model, 4)
    jobs = [partial(whole, c.generate(g, WARM)) for c, g in zip(contexts, grammars, strict=True)]
    for future, grammar in zip(in_threads(jobs), grammars, strict=True):
        if grammar == TWENTY:
            assert re.fullmatch("[a-g]{20}", future.result())
        else:
            assert isinstance(future.exception(), GrammarError)


@contextmanager
def breaking(error: BaseException, *, rows: int) -> Iterator[None]:
    """Within the block the first batch of so many rows is read, and then raises."""
    real, raised = Evaluator.decode, threading.Event()

    def decode(self: Evaluator, given: Sequence[Row], stop: Callable[[], bool]) -> Any:
        outcome = real(self, given, stop)
        if len(given) == rows and not raised.is_set():
            raised.set()
            raise error
        return outcome

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Evaluator, "decode", decode)
        yield
    assert raised.is_set()


def begun(model: LlamaModel, count: int) -> list[tuple[LlamaContext, int, Iterator[str], str]]:
    """Return contexts, where their replies begin, those, and their first pieces."""
    found = []
    for context in started(model, count):
        reply = context.generate(TWENTY, WARM)
        found.append((context, len(context.tokens), reply, next(reply)))
    return found


def test_an_error_of_a_batch_is_that_of_all_who_are_in_it(
    model: LlamaModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, *others = begun(model, 5)
    monkeypatch.setattr(desk, "_PATIENCE", 0.0)
    next(held[2])
    monkeypatch.setattr(desk, "_PATIENCE", LONG)
    held_consumer = model.desk._consumers[0]
    held_consumer.since -= 2 * LONG  # away for long
    with breaking(ModelError("it broke"), rows=4):
        done = in_threads([partial(whole, reply) for _, _, reply, _ in others])
    errors = [future.exception() for future in done]
    assert [str(error) for error in errors] == ["it broke"] * 4
    assert len(set(map(id, errors))) == 4
    # All contexts are as they were, and go on.
    assert len("".join(held[2])) >= 16
    for context, before, _, first in others:
        assert written(model, context, before) == first
        assert re.fullmatch("[a-g]{20}", "".join(context.generate(TWENTY, WARM)))


def test_ctrl_c_in_the_thread_that_leads_leaves_the_others_as_they_were(
    model: LlamaModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = begun(model, 4)
    monkeypatch.setattr(desk, "_PATIENCE", LONG)
    with breaking(KeyboardInterrupt(), rows=4):
        done = in_threads([partial(whole, reply) for _, _, reply, _ in replies])
    stopped = [isinstance(future.exception(), KeyboardInterrupt) for future in done]
    assert stopped.count(True) == 1
    for (context, before, _, first), future, was in zip(replies, done, stopped, strict=True):
        text = first if was else first + future.result()
        assert was or re.fullmatch("[a-g]{20}", text)
        assert written(model, context, before) == text
        context.append(Message("user", "more"))
        assert re.fullmatch("[a-g]{20}", "".join(context.generate(TWENTY, WARM)))


def spin(until: Callable[[], object]) -> None:
    """Return as soon as something holds that another thread is about to do."""
    end = time.monotonic() + 60
    while not until():
        assert time.monotonic() < end, "it never came"
        time.sleep(0)


@pytest.mark.parametrize("moment", range(4))
def test_ctrl_c_while_pieces_are_chosen_keeps_none_from_the_others(
    simple: LlamaModel, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    """The main thread leads; the signal comes with one of the pieces of a batch."""
    mine, *contexts = started(simple, 4)
    befores = [len(context.tokens) for context in contexts]
    my_reply, *replies = [context.generate(TWENTY, WARM) for context in (mine, *contexts)]
    real, calls = LlamaContext.has_written, iter(range(10**6))

    def has_written(self: LlamaContext, token: int) -> None:
        if next(calls) == moment:
            os.kill(os.getpid(), signal.SIGINT)
        real(self, token)

    all_there = threading.Barrier(4)

    def ask(reply: Iterator[str]) -> str:
        first = next(reply)  # who is seen in a thread of its own is waited for
        all_there.wait(60)
        spin(lambda: simple.desk._leader is not None)  # the main thread, which waits for this
        return first + next(reply)

    next(my_reply)
    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(ask, reply) for reply in replies]
        spin(lambda: all_there.n_waiting == 3)
        monkeypatch.setattr(desk, "_PATIENCE", LONG)
        monkeypatch.setattr(LlamaContext, "has_written", has_written)
        all_there.wait(60)
        with pytest.raises(KeyboardInterrupt):
            next(my_reply)
        texts = [future.result(timeout=60) for future in futures]
    monkeypatch.setattr(desk, "_PATIENCE", 0.0)
    for context, before, reply, text in zip(contexts, befores, replies, texts, strict=True):
        assert written(simple, context, before) == text
        text += "".join(reply)
        assert re.fullmatch("[a-g]{20}", text)
        assert written(simple, context, before) == text


def test_ctrl_c_in_a_thread_that_waits_takes_it_out_of_the_batch(model: LlamaModel) -> None:
    """Another thread reads a batch for the main thread, in which Ctrl-C is pressed."""
    waiting = model.start([Message("user", "q")])
    leading = model.start([Message("user", "x" * 1000)])  # so long that it leads twice
    before = len(waiting.tokens)
    real, pressed = Evaluator.decode, threading.Event()

    def decode(self: Evaluator, rows: Sequence[Row], stop: Callable[[], bool]) -> Any:
        consumers = model.desk._consumers
        if threading.current_thread() is threading.main_thread() or pressed.is_set():
            return real(self, rows, stop)
        if not all(consumer.reading for consumer in consumers) or len(consumers) < 2:
            outcome = real(self, rows, stop)
            spin(lambda: len(consumers) == 2 and all(c.asking for c in consumers))
            return outcome
        outcome = real(self, rows, lambda: False)
        pressed.set()
        os.kill(os.getpid(), signal.SIGINT)
        spin(lambda: any(consumer.gone for consumer in consumers))
        return outcome

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as pool:
        patch.setattr(Evaluator, "decode", decode)
        future = pool.submit(twenty, leading)
        spin(lambda: model.desk._leader is not None)
        with pytest.raises(KeyboardInterrupt):
            list(waiting.generate('root ::= "Thought: " [a-g]{40}', WARM))
        assert re.fullmatch("[a-g]{20}", future.result(timeout=60))
    assert pressed.is_set()
    assert len(waiting.tokens) == before
    assert not waiting.let_go
    text = "".join(waiting.generate('root ::= "Thought: " [a-g]{5}', WARM))
    assert re.fullmatch("Thought: [a-g]{5}", text)
    assert written(model, waiting, before) == text


def test_a_reply_may_be_dropped_at_any_moment(simple: LlamaModel) -> None:
    """Garbage collection closes it, in whatever thread and wherever that is."""
    contexts = started(simple, 3)
    dropped = [context.generate(TWENTY, WARM) for context in contexts]
    firsts = [next(reply) for reply in dropped]
    with simple.desk._lock:  # this thread is at the desk itself
        ring: list[Any] = [dropped.pop()]
        ring.append(ring)
        del ring
        gc.collect()
    assert len(simple.desk._consumers) == 2
    # Another thread is at the desk, and has the model.
    with simple.lock:
        [done] = in_threads([dropped.clear])
        assert done.result() is None
    assert simple.desk._consumers == []
    for context, first in zip(contexts, firsts, strict=True):
        assert context.usage.generated == 1
        assert re.fullmatch("[a-g]{20}", "".join(context.generate(TWENTY, WARM)))
        assert first


def test_a_model_closed_by_another_thread_says_so_to_all(simple: LlamaModel) -> None:
    long = "root ::= [a-g]{2000}"
    replies = [context.generate(long, WARM) for context in started(simple, 4)]

    def close() -> None:
        spin(lambda: sum(c.usage.generated for c in contexts) > 20)
        simple.close()

    contexts = started(simple, 4)
    replies = [context.generate(long, WARM) for context in contexts]
    *done, closed = in_threads([*(partial(whole, reply) for reply in replies), close])
    assert closed.result() is None
    assert all(isinstance(future.exception(), ModelError) for future in done)
    assert all("closed" in str(future.exception()) for future in done)


def test_a_fork_goes_before_the_next_batch(simple: LlamaModel) -> None:
    for _ in range(5):
        context, writer = started(simple, 2)

        def fork(context: LlamaContext = context, writer: LlamaContext = writer) -> int:
            context.fork(3)
            return writer.usage.generated

        with simple.lock, ThreadPoolExecutor(2) as pool:
            forked = pool.submit(fork)
            spin(lambda: simple.desk._visitors)
            text = pool.submit(twenty, writer)
            spin(lambda: simple.desk._leader is not None)
            simple.lock.release()
            assert forked.result(timeout=60) == 0
            assert re.fullmatch("[a-g]{20}", text.result(timeout=60))
            simple.lock.acquire()


def test_cancelling_one_leaves_the_others(model: LlamaModel) -> None:
    stop = threading.Event()
    stopped = model.start(chat("a"), cancel=stop)
    others = started(model, 3)

    def first() -> str:
        text = ""
        for piece in stopped.generate("root ::= [a-g]{200}", WARM):
            text += piece
            if len(text) > 5:
                stop.set()
        return text

    done = in_threads([first, *(partial(twenty, c) for c in others)])
    assert 6 <= len(done[0].result()) <= 7
    assert all(re.fullmatch("[a-g]{20}", future.result()) for future in done[1:])


# -- all of it at once ---------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("size", [600, 4096])
def test_threads_that_do_all_there_is_to_do_at_random(path: Path, seed: int, size: int) -> None:
    with LlamaModel(path, threads=1, context_size=size, warm_start=False) as model:
        for future in in_threads([partial(_live, model, 100 * seed + n) for n in range(8)]):
            assert future.result() is None
        assert model.desk._consumers == []
        gc.collect()
        last = model.start([Message("user", "q")])
        assert re.fullmatch("[a-g]{20}", "".join(last.generate(TWENTY, WARM)))


def _live(model: LlamaModel, seed: int) -> None:
    """Do at random what threads do, and see that each context says what was seen of it."""
    dice, held = random.Random(seed), list[Any]()
    for _ in range(6):
        stop = threading.Event()
        opening = [Message("system", "s" * 50), Message("user", "u" * dice.randint(1, 60))]
        context = model.start(opening, fixed=True, cancel=stop)
        forks = context.fork(dice.randint(1, 3)) if dice.random() < 0.4 else [context]
        befores = [len(one.tokens) for one in forks]
        texts = [""] * len(forks)
        requests = [Request(one, "root ::= [a-g]{5,40}", Sampling(1.0, seed)) for one in forks]
        pieces = model.generate_many(requests)
        most = dice.choice([3, 10, 1000])
        for count, (number, piece) in enumerate(pieces):
            texts[number] += piece
            if count >= most and len(forks) == 1:
                break
            if dice.random() < 0.02:
                stop.set()
            if dice.random() < 0.02:
                held.append(next(iter(_other(model, dice)), None))
        if len(forks) == 1 and dice.random() < 0.5:
            held.append(pieces)  # and is never closed
        else:
            pieces.close()  # type: ignore[attr-defined]
        for one, before, text in zip(forks, befores, texts, strict=True):
            assert written(model, one, before) == text
            assert one.usage.generated == model.count(text) == len(one.tokens) - before


def _other(model: LlamaModel, dice: random.Random) -> Iterator[str]:
    """Return another reply, which its thread begins while it is at one."""
    return model.start([Message("user", "v" * dice.randint(1, 60))]).generate(TWENTY, WARM)
