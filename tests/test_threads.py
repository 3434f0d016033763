"""Several who ask at once, tools that come back to who calls them, and what is kept for ever."""

from __future__ import annotations

import contextvars
import gc
import threading
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from local_react import Agent, LlamaModel, Network, Run, Sampling, ScriptedModel, tool
from local_react.aside import Aside
from local_react.backends.llama import decoding, native
from local_react.core import Call, Event, Message, Usage, Weighed
from local_react.errors import ContextFull, ModelError, OfflineError, UsageError
from local_react.network import permit
from local_react.protocol import written
from local_react.session import _CHATS, Session

FINISH = 'Thought: done\nAction: Finish {"answer": "42"}'
BUSY = "at another question"


def scripted(*replies: str, **options: Any) -> ScriptedModel:
    return ScriptedModel(replies or [FINISH] * 20, **options)


def asked(session: Session, question: str) -> Run:
    *_, run = session.ask(question)
    assert isinstance(run, Run)
    return run


# -- one question at a time in a session ----------------------------------------------


@pytest.mark.parametrize("how", ["ask", "again", "undo", "clear", "agent"])
def test_a_session_is_at_one_question_at_a_time(how: str) -> None:
    agent = Agent(scripted())
    session = Session(agent)
    asked(session, "one")
    under_way = session.ask("two")
    next(under_way)
    uses: dict[str, Callable[[], object]] = {
        "ask": lambda: session.ask("three"),
        "again": session.again,
        "undo": session.undo,
        "clear": session.clear,
        "agent": lambda: setattr(session, "agent", agent),
    }
    with pytest.raises(UsageError, match=BUSY):
        uses[how]()
    *_, run = under_way
    assert isinstance(run, Run)
    assert run.question == "two"
    assert [turn.question for turn in session.turns] == ["one", "two"]
    uses[how]()


@pytest.mark.parametrize("end", ["closed", "dropped", "never begun", "at its end"])
def test_a_session_is_free_once_its_run_is_over(end: str) -> None:
    session = Session(Agent(scripted()))
    run: Generator[Event, None, None] | None = session.ask("one")
    if end == "closed":
        assert run
        next(run)
        run.close()
    elif end == "dropped":
        assert run
        next(run)
        run = None
    elif end == "never begun":
        run = None
    else:
        assert run
        assert any(isinstance(event, Run) for event in run)
    gc.collect()
    assert asked(session, "two").answer == "42"


def test_of_many_threads_at_one_session_each_is_answered_or_refused(tiny: LlamaModel) -> None:
    session = Session(Agent(tiny, max_steps=1, thought_tokens=5, action_tokens=20))
    asides = [Aside(partial(asked, session, f"q {n}"), "asker") for n in range(8)]
    refused = 0
    for number, aside in enumerate(asides):
        assert aside.is_done(120)
        try:
            assert aside.result().question == f"q {number}"
        except UsageError as error:
            assert BUSY in str(error)
            refused += 1
    assert refused < 8
    assert len(session.turns) <= 8 - refused


def test_a_session_keeps_the_chats_of_its_latest_turns_alone() -> None:
    session = Session(Agent(scripted(*[FINISH] * 40)))
    for number in range(2 * _CHATS):
        asked(session, f"q {number}")
    assert sum(chat is not None for chat in session._chats) == _CHATS
    for number in range(2 * _CHATS, 1, -1):
        assert session.undo().question == f"q {number - 1}"
    assert asked(session, "last").answer == "42"
    assert [turn.question for turn in session.turns] == ["q 0", "last"]


# -- tools -----------------------------------------------------------------------------


def called(agent: Agent, name: str) -> Run:
    *_, run = agent.stream("Q?", given=[written("t", Call(name, {}))])
    assert isinstance(run, Run)
    return run


def test_a_tool_may_ask_its_agent_which_cannot_call_it_then() -> None:
    inner: list[Run] = []

    @tool
    def again() -> str:
        """Ask again."""
        inner.append(called(agent, "again"))
        return inner[-1].answer

    agent = Agent(scripted(), [again])
    for _ in range(2):
        inner.clear()
        run = called(agent, "again")
        assert [run.steps[0].observation, run.answer] == ["42", "42"]
        assert len(inner) == 1
        assert "again is at work already" in (inner[0].steps[0].observation or "")


@pytest.mark.parametrize("how", ["timeout", "cancel"])
def test_a_tool_that_hangs_is_left_behind_when_the_time_is_over(how: str) -> None:
    free, cancel = threading.Event(), threading.Event()

    @tool
    def hangs() -> str:
        """Wait."""
        if how == "cancel":
            cancel.set()
        free.wait(60)
        return "over"

    agent = Agent(scripted(), [hangs], timeout=0.2 if how == "timeout" else 600)
    *_, run = agent.stream("Q?", cancel, given=[written("t", Call("hangs", {}))])
    free.set()
    assert isinstance(run, Run)
    assert run.stop_reason == ("timeout" if how == "timeout" else "interrupted")
    assert "still busy" in (run.steps[0].observation or "")


def test_work_aside_sees_the_context_it_was_begun_in() -> None:
    variable = contextvars.ContextVar("variable", default="nothing")
    variable.set("seen")
    assert Aside(variable.get, "aside").awaited() == "seen"


# -- the choice beforehand ---------------------------------------------------------------


class Weighing(ScriptedModel):
    """Notes what it may be stopped by, and reads a hundred tokens to weigh."""

    flags: list[Any] = []  # noqa: RUF012 - one test's

    def weigh(
        self, messages: Any, options: Any, *, cancel: threading.Event | None = None
    ) -> Weighed:
        self.flags.append(cancel)
        return Weighed([0.0, *(-100.0 for _ in options[1:])], Usage(evaluated=100))


def test_what_is_weighed_counts_and_can_be_cancelled() -> None:
    @tool
    def own(text: str) -> str:
        """Do something."""
        return text

    cancel = threading.Event()
    runs = [Agent(model, [own]).run("Q?", cancel) for model in (scripted(), Weighing([FINISH]))]
    assert (runs[1].usage - runs[0].usage).evaluated == 100
    assert (runs[1].steps[0].usage - runs[0].steps[0].usage).evaluated == 100
    [flag] = Weighing.flags
    assert not flag.is_set()
    cancel.set()
    assert flag.is_set()


# -- a window that cannot be larger ------------------------------------------------------


@pytest.mark.parametrize("tools", [(), "own"])
@pytest.mark.parametrize("size", [120, 1000])
def test_a_larger_context_is_advised_where_there_can_be_one(size: int, tools: Any) -> None:
    @tool
    def own(text: str) -> str:
        """Do something."""
        return text

    told = []
    for longest in (size, size + 1):
        model = scripted(context_size=size, longest_context=longest)
        with pytest.raises(ContextFull) as caught:
            Agent(model, [own] if tools else []).run("word " * 2000)
        told.append("--ctx-size" in str(caught.value))
    assert told == [False, True]


def test_a_real_model_knows_how_large_its_context_can_be(tiny_path: Path) -> None:
    for size in (2048, 4096):
        with LlamaModel(tiny_path, threads=1, context_size=size, trusted=True) as model:
            context = model.start([Message("user", "q")])
            uses: list[Callable[[], object]] = [
                partial(model.start, [Message("user", "x" * 9000)]),
                partial(context.force, "x" * 9000),
            ]
            for use in uses:
                with pytest.raises(ContextFull) as caught:
                    use()
                assert ("--ctx-size" in str(caught.value)) == (size < model.longest_context)


# -- closing, and a fork -------------------------------------------------------------------


def test_closing_waits_for_a_text_that_is_being_read(tiny_path: Path) -> None:
    model = LlamaModel(tiny_path, threads=1, trusted=True)
    with model.vocabulary._lock:  # as another thread has it meanwhile
        closing = Aside(model.close, "closing")
        assert not closing.is_done(0.1)
        assert model.vocabulary.tokenize("q")
    closing.awaited()
    with pytest.raises(ModelError, match="closed"):
        model.count("q")


def test_a_model_is_of_no_use_in_a_process_that_was_forked(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LlamaModel(tiny_path, threads=1, trusted=True) as model:
        context = model.start([Message("user", "q")])
        reply = context.generate("root ::= [a-g]{20}", Sampling())
        first = next(reply)
        with monkeypatch.context() as patch, model.desk._lock:  # which the fork has as it was
            patch.setattr(native.native_log(), "process", -1)
            uses: list[Callable[[], object]] = [
                lambda: model.start([Message("user", "q")]),
                lambda: next(context.generate(None, Sampling())),
                lambda: context.fork(1),
                lambda: context.weigh(["a"]),
                lambda: model.count("q"),
                lambda: LlamaModel(tiny_path),
            ]
            for use in uses:
                aside = Aside(use, "fork")
                assert aside.is_done(60)
                with pytest.raises(ModelError, match="forked"):
                    aside.result()
            assert Aside(model.close, "fork").is_done(60)
        assert len(first + "".join(reply)) == 20


# -- what is kept for ever -----------------------------------------------------------------


@pytest.mark.usefixtures("own_places")
def test_a_door_that_nobody_begins_anew_keeps_the_latest() -> None:
    door = Network("deny")
    for number in range(permit.NOTED + 5):
        with pytest.raises(OfflineError):
            door.permit("asker", ["example.org"], str(number))
    assert len(door.refused) == permit.NOTED
    assert door.refused[-1].text == str(permit.NOTED + 4)

    door = Network("ask", ask=lambda outgoing: "yes", private=True)
    for number in range(permit.NOTED + 5):
        with door.permit("asker", ["example.org"], str(number)).exchange("example.org"):
            pass
    assert len(door.exchanges) == permit.NOTED
    assert door.exchanges[-1].text == str(permit.NOTED + 4)
    assert len(door._said) <= permit.NOTED


@pytest.mark.usefixtures("own_places")
def test_who_asks_the_user_may_itself_ask_for_something() -> None:
    def ask(outgoing: Any) -> Any:
        if outgoing.asker == "outer":
            door.permit("inner", ["example.org"], "first")
        return "yes"

    door = Network("ask", ask=ask, private=True)
    aside = Aside(lambda: door.permit("outer", ["example.org"], "then"), "asker")
    assert aside.is_done(60)
    assert aside.result().outgoing.asker == "outer"


def test_of_the_grammars_the_latest_are_kept_and_replies_go_on(tiny_path: Path) -> None:
    with LlamaModel(tiny_path, threads=1, trusted=True) as model:
        reply = model.start([Message("user", "q")]).generate("root ::= [a-g]{20}", Sampling())
        first = next(reply)
        for number in range(decoding._KEPT + 5):
            model.check(f'root ::= "{number}"')
            model.check('root ::= "often"')
        compiled = model.grammars._compiled
        assert len(compiled) == decoding._KEPT
        assert 'root ::= "often"' in compiled
        assert "root ::= [a-g]{20}" not in compiled
        assert len(first + "".join(reply)) == 20
