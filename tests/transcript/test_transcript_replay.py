"""A replay is the same run without its tools, and says where it is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from recorded_runs import USUAL, call, calls, finish, recorded, tools

from local_react import Agent, LlamaModel, Run, Sampling, ScriptedModel, calculator, tool
from local_react.cli.recording import transcript_of
from local_react.core import Call, Finish, Malformed, Step
from local_react.errors import UsageError
from local_react.session import Session
from local_react.tools.base import AnyTool
from local_react.transcript import (
    Changes,
    Difference,
    Recorder,
    Replay,
    Transcript,
    first_difference,
    parsed,
    redacted,
)
from local_react.transcript.record import fingerprints


def replayed(
    transcript: Transcript,
    replies: Sequence[str] = USUAL,
    *,
    builtin: Sequence[AnyTool] = (calculator,),
    **changes: Any,
) -> Run:
    model = ScriptedModel(replies)
    made = Replay(transcript, model, builtin=builtin, changes=Changes(**changes))
    *_, run = made.stream()
    assert isinstance(run, Run)
    return run


def observations(run: Run) -> list[str | None]:
    return [step.observation for step in run.steps]


def test_a_replay_is_the_same_run_and_calls_no_tool() -> None:
    count = calls()
    run, transcript = recorded(count=count)
    before = dict(count)
    again = replayed(parsed(transcript.text, "it"))
    assert first_difference(run, again) is None
    assert observations(again) == observations(run)
    assert again.sources == run.sources
    assert count == before == {"weather": 2, "weigh": 1, "note": 0}


def test_the_model_reads_the_same_as_then() -> None:
    recorder, first = Recorder(), ScriptedModel(USUAL)
    agent = Agent(first, recorder.tools(tools(calls())), system="Be short.")
    *_, run = agent.stream("How warm is it?", facts=["lives in Oslo"])
    assert isinstance(run, Run)
    text = recorder.finish(run, agent, facts=["lives in Oslo"])
    second = ScriptedModel(USUAL)
    made = Replay(parsed(text, "it"), second)
    list(made.stream())
    assert second.seen == first.seen
    assert second.grammars == first.grammars
    assert not made.reads_otherwise


def test_a_question_that_a_tool_offers_to_compute_is_replayed() -> None:
    run, transcript = recorded([finish("15")], question="3 * 5", votes="auto")
    assert isinstance(run.steps[0].action, Call)
    again = replayed(transcript, [finish("15")], builtin=())
    assert first_difference(run, again) is None
    assert again.computed == run.computed


def test_what_was_not_recorded_is_computed_or_refused() -> None:
    _, transcript = recorded()
    replies = [
        call("a", ("calculator", {"expression": "7 * 8"}), ("weigh", {"breed": "collie"})),
        call("b", ("weather", {"city": "Lima"}), ("note", {"text": "x"})),
        finish("x"),
    ]
    seen = observations(replayed(transcript, replies))
    assert seen[0] == "56"
    assert all("not recorded" in str(one) for one in seen[1:4])


def test_a_calculator_of_the_users_is_not_ours() -> None:
    @tool(name="calculator")
    def own(expression: str) -> str:
        """Compute, in my own way."""
        return "a"

    recorder = Recorder()
    agent = Agent(ScriptedModel([finish("x")]), recorder.tools([own]))
    transcript = parsed(recorder.finish(agent.run("hello"), agent), "it")
    seen = observations(
        replayed(transcript, [call("a", ("calculator", {"expression": "1+1"})), finish("x")])
    )
    assert "not recorded" in str(seen[0])


def test_our_tools_that_do_more_than_compute_are_never_called() -> None:
    count = calls()
    _, transcript = recorded()
    replies = [call("a", ("weather", {"city": "Lima"})), finish("x")]
    seen = observations(replayed(transcript, replies, builtin=tools(count)))
    assert "not recorded" in str(seen[0])
    assert count == calls()


def test_the_same_call_gives_what_it_gave_in_turn() -> None:
    recorder = Recorder()
    own = tools(calls())
    [_, _, weigh, _] = recorder.tools(own)
    told = [weigh.run({"breed": "pug"}) for _ in range(2)]
    agent = Agent(ScriptedModel([]), recorder.tools(own))
    transcript = parsed(recorder.finish(Run("q", (), "", "finish", "m"), agent), "it")
    again = Replay(transcript, ScriptedModel([])).agent.tools[2]
    assert [again.run({"breed": "pug"}) for _ in range(3)] == ["38 lbs", "39 lbs", "39 lbs"]
    assert told == ["38 lbs", "39 lbs"]


def test_what_the_user_said_is_said_again() -> None:
    said: list[Any] = [True, False, Call("note", {"text": "c"})]
    replies = [call(f"{n}", ("note", {"text": n})) for n in ("a", "b", "d")] + [finish("x")]
    count = calls()
    run, transcript = recorded(replies, approve=lambda _: said.pop(0), count=count)
    again = replayed(transcript, replies)
    assert first_difference(run, again) is None
    assert [bool(one and "not allowed" in one) for one in observations(again)[:3]] == [
        False,
        True,
        False,
    ]
    assert '{"text": "c"}' in str(again.steps[2].observation)
    assert count["note"] == 2


def test_where_nobody_could_be_asked_nobody_is() -> None:
    replies = [USUAL[0], call("b", ("note", {"text": "a"})), finish("x")]
    run, transcript = recorded(replies)
    assert "not allowed" in str(run.steps[1].observation)
    assert first_difference(run, replayed(transcript, replies)) is None


def test_votes_are_cast_again() -> None:
    replies = [call("a", ("weigh", {"breed": "pug"})), finish("38")]
    run, transcript = recorded(replies, question="How many lbs is a pug?", votes=3)
    again = replayed(transcript, replies)
    assert len(run.votes) == 3
    assert first_difference(run, again) is None


def test_settings_are_those_of_then() -> None:
    sampling = Sampling(temperature=0.3, seed=5, top_k=7)
    _, transcript = recorded(max_steps=3, observation_tokens=99, sampling=sampling, votes=2)
    agent = Replay(transcript, ScriptedModel([])).agent
    assert (agent.max_steps, agent.observation_tokens, agent.votes) == (3, 99, 2)
    assert agent.sampling == sampling
    branch = Replay(transcript, ScriptedModel([]), changes=Changes(temperature=0.9, seed=1)).agent
    assert branch.sampling == replace(sampling, temperature=0.9, seed=1)


# Branches


def test_a_branch_is_given_what_stands_before_it() -> None:
    run, transcript = recorded()
    # The last reply alone is the model's own.
    again = replayed(transcript, [finish("another")], start=5)
    assert again.answer.startswith("another")
    assert again.steps[:4] != ()
    found = first_difference(run, again)
    assert found is not None
    assert (found.step, found.part) == (5, "action")


def test_a_step_in_the_middle_of_a_reply_begins_with_that_reply() -> None:
    _, transcript = recorded()
    made = Replay(transcript, ScriptedModel([]), changes=Changes(start=3))
    assert made.start == 2


def test_a_changed_observation_is_what_the_model_sees() -> None:
    _, transcript = recorded()
    model = ScriptedModel([finish("cold")])
    made = Replay(transcript, model, changes=Changes(start=2, observation="It snows."))
    *_, run = made.stream()
    assert isinstance(run, Run)
    assert "> It snows." in str(run.steps[0].observation)
    assert "21 degrees" not in str(run.steps[0].observation)
    assert any("It snows." in message.content for message in model.seen)


def test_a_changed_observation_of_a_tool_that_computes_is_its_own_text() -> None:
    replies = [call("a", ("weigh", {"breed": "pug"})), finish("x")]
    _, transcript = recorded(replies)
    run = replayed(transcript, [finish("x")], start=2, observation="5 lbs")
    assert observations(run) == ["5 lbs", None]


def test_a_changed_observation_of_a_call_that_the_user_changed() -> None:
    replies = [call("a", ("note", {"text": "a"})), finish("x")]
    _, transcript = recorded(replies, approve=lambda _: Call("note", {"text": "b"}))
    run = replayed(transcript, [finish("x")], start=2, observation="full")
    assert str(observations(run)[0]).endswith("full")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"start": 6}, "steps 1 to 5"),
        ({"start": 0}, "steps 1 to 5"),
        ({"observation": "x"}, "no step before step 1"),
        ({"start": 5, "observation": "x"}, None),
    ],
)
def test_branches_that_cannot_be(changes: dict[str, Any], told: str | None) -> None:
    _, transcript = recorded()
    if told is None:
        Replay(transcript, ScriptedModel([]), changes=Changes(**changes))
        return
    with pytest.raises(UsageError, match=told):
        Replay(transcript, ScriptedModel([]), changes=Changes(**changes))


def test_what_called_no_tool_observes_nothing_else() -> None:
    _, transcript = recorded(["nonsense", finish("x")])
    with pytest.raises(UsageError, match="step 1 called no tool"):
        Replay(transcript, ScriptedModel([]), changes=Changes(start=2, observation="x"))


def test_a_malformed_step_is_given_as_it_was_written() -> None:
    run, transcript = recorded(["nonsense", USUAL[0], finish("x")])
    again = replayed(transcript, [finish("y")], start=3)
    assert (
        again.steps[0].action
        == run.steps[0].action
        == Malformed("nonsense", "it has no Action line")
    )


def test_another_question_and_another_system() -> None:
    _, transcript = recorded([finish("4")], question="2 + 2", system="Be short.")
    model = ScriptedModel([finish("6")])
    changes = Changes(question="3 + 3", system="")
    run = [*Replay(transcript, model, builtin=[calculator], changes=changes).stream()][-1]
    assert isinstance(run, Run)
    assert (run.question, run.answer) == ("3 + 3", "6")
    # The calculator offers what the new question needs, and not what the old one did.
    assert run.steps[0].action == Call("calculator", {"expression": "3 + 3"})
    assert not any("Be short." in message.content for message in model.seen)


def test_a_branch_is_a_run_that_can_be_replayed() -> None:
    _, transcript = recorded()
    recorder = Recorder()
    changes = Changes(start=2, observation="It snows.")
    made = Replay(transcript, ScriptedModel(USUAL[1:]), changes=changes, recorder=recorder)
    *_, run = made.stream()
    assert isinstance(run, Run)
    text = recorder.finish(run, made.agent, branch={"run": "x", "step": 2})
    branch = parsed(text, "it")
    assert branch.head["branch"] == {"run": "x", "step": 2}
    assert first_difference(run, replayed(branch, [*USUAL])) is None


# Conversations


def test_a_turn_of_a_conversation_knows_the_turns_before_it() -> None:
    recorder = Recorder()
    first, _ = recorded()
    model = ScriptedModel([finish("warm")])
    agent = Agent(model, recorder.tools(tools(calls())))
    *_, run = Session(agent, [first]).ask("Is that warm?")
    assert isinstance(run, Run)
    text = recorder.finish(run, agent, earlier=[first], session="trip")
    transcript = parsed(text, "it")
    assert transcript.earlier == [first]
    again = ScriptedModel([finish("warm")])
    *_, second = Replay(transcript, again).stream()
    assert isinstance(second, Run)
    assert again.seen == model.seen
    assert first_difference(run, second) is None


# What cannot be replayed


def test_a_redacted_transcript_is_refused() -> None:
    with pytest.raises(UsageError, match="redacted"):
        Replay(redacted(recorded()[1]), ScriptedModel([]))


@pytest.mark.parametrize("missing", ["tools", "settings", "facts", "system"])
def test_a_head_that_lacks_something_is_refused(missing: str) -> None:
    transcript = recorded()[1]
    head = {name: value for name, value in transcript.head.items() if name != missing}
    with pytest.raises(UsageError, match=missing):
        Replay(replace(transcript, head=head), ScriptedModel([]))


def test_another_version_with_other_words_is_told() -> None:
    transcript = recorded()[1]
    head = {**transcript.head, "prompt_sha256": "0" * 64}
    assert Replay(replace(transcript, head=head), ScriptedModel([])).reads_otherwise


# Differences

RUN = recorded()[0]


def with_step(number: int, **changes: Any) -> Run:
    steps = list(RUN.steps)
    steps[number - 1] = replace(steps[number - 1], **changes)
    return replace(RUN, steps=tuple(steps))


@pytest.mark.parametrize(
    ("now", "step", "part"),
    [
        (with_step(2, thought="other"), 2, "thought"),
        (with_step(3, action=Call("calculator", {"expression": "2+3"})), 3, "action"),
        (with_step(5, action=Finish("other")), 5, "action"),
        (with_step(1, observation="other"), 1, "observation"),
        (replace(RUN, steps=RUN.steps[:3]), 4, "action"),
        (replace(RUN, steps=(*RUN.steps, Step("t", Finish("a"), None))), 6, "action"),
        (replace(RUN, answer="other"), None, "answer"),
        (replace(RUN, stop_reason="max_steps"), None, "end"),
    ],
)
def test_the_first_difference_is_found(now: Run, step: int | None, part: str) -> None:
    found = first_difference(RUN, now)
    assert found is not None
    assert (found.step, found.part) == (step, part)
    assert found.recorded != found.now


def test_time_and_tokens_make_no_difference() -> None:
    assert first_difference(RUN, replace(RUN, seconds=99.0)) is None
    assert first_difference(RUN, with_step(1, seconds=99.0)) is None


def test_what_stands_before_a_step_is_not_compared() -> None:
    changed = with_step(2, thought="other")
    assert first_difference(RUN, changed, since=3) is None
    found = first_difference(RUN, replace(changed, steps=changed.steps[:4]), since=3)
    assert found is not None
    assert (found.step, found.now) == (5, None)


def test_a_missing_step_is_none() -> None:
    answer = json.dumps({"finish": RUN.answer}, ensure_ascii=False)
    found = first_difference(RUN, replace(RUN, steps=RUN.steps[:4]))
    assert found == Difference(5, "action", answer, None)


@pytest.mark.parametrize("reason", ["interrupted", "timeout"])
def test_of_a_run_that_was_cut_the_last_reply_is_not_compared(reason: Any) -> None:
    steps = (*RUN.steps[:3], Step("h", Malformed("h", "it was interrupted"), None, reply=3))
    cut = replace(RUN, steps=steps, answer="", stop_reason=reason)
    assert first_difference(cut, RUN) is None
    other = with_step(2, thought="other")
    assert first_difference(cut, other) is not None


# With a real model

REPLAY = """
import sys
def shut(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        raise RuntimeError(f"{event} {args}")
sys.addaudithook(shut)
from local_react.cli.main import run
sys.exit(run(sys.argv[1:]))
"""


def in_another_process(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", REPLAY, "trace", "replay", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LOCAL_REACT_NETWORK": "deny"},
    )


SHORT: dict[str, Any] = {"max_steps": 2, "thought_tokens": 30, "action_tokens": 40}
LOADED = {
    "gpu_layers": -1,
    "flash_attention": "auto",
    "cache_type_k": "f16",
    "cache_type_v": "f16",
}


@pytest.mark.model
@pytest.mark.parametrize(
    ("question", "called", "options"),
    [
        ("What is the weather in Oslo?", "weather", {}),
        ("What does a poodle weigh?", "weigh", {"sampling": Sampling(temperature=0.9, seed=3)}),
        ("A dog weighs 3 lbs and eats 4 lbs. What is that in lbs?", "weigh", {"votes": 3}),
        ("What is 12 * 7?", "calculator", {"votes": "auto"}),
    ],
    ids=["network", "seed", "votes", "computed"],
)
def test_a_replay_in_another_process_is_identical(
    smollm: LlamaModel, tmp_path: Path, question: str, called: str, options: dict[str, Any]
) -> None:
    recorder, own = Recorder(), [_offering(one, called) for one in tools(calls())]
    agent = Agent(smollm, recorder.tools(own), **{**SHORT, **options})
    run = agent.run(question)
    assert [step.action.tool for step in run.steps if isinstance(step.action, Call)][:1] == [called]
    path = tmp_path / "run.jsonl"
    path.write_text(transcript_of(recorder, run, agent, smollm, LOADED), encoding="utf-8")
    done = in_another_process("-q", str(path))
    assert (done.returncode, done.stdout.split(":")[0], done.stderr) == (0, "identical", "")


def _offering(tool: AnyTool, called: str) -> AnyTool:
    """Return the tool, which offers itself where it is the one to be called: a weak model may
    call none by itself."""
    arguments = {"weather": {"city": "Oslo"}, "weigh": {"breed": "poodle"}}.get(called)
    if tool.name != called or arguments is None:
        return tool
    return replace(tool, offer=lambda _: arguments, offered="I look it up.")


@pytest.mark.model
def test_a_changed_observation_branches_a_real_run(smollm: LlamaModel, tmp_path: Path) -> None:
    recorder = Recorder()
    agent = Agent(smollm, recorder.tools(tools(calls())), **SHORT)
    given = [call("I look it up.", ("weather", {"city": "Oslo"}))]
    *_, run = agent.stream("What is the weather in Oslo?", given=given)
    assert isinstance(run, Run)
    path, branch = tmp_path / "run.jsonl", tmp_path / "branch.jsonl"
    path.write_text(transcript_of(recorder, run, agent, smollm, LOADED), encoding="utf-8")
    told = in_another_process(
        "--from", "2", "--observation", "It snows.", "--transcript", str(branch), str(path)
    )
    assert told.returncode in (0, 4)
    assert "> It snows." in told.stderr
    made = parsed(branch.read_text("utf-8"), "branch")
    assert made.head["branch"]["step"] == 2
    assert "It snows." in str(made.run.steps[0].observation)
    found = first_difference(run, made.run)
    assert found is not None
    assert (found.step, found.part) == (1, "observation")


def test_the_fingerprints_change_with_what_they_are_of() -> None:
    agent = Agent(ScriptedModel([]), tools(calls()))
    one = fingerprints(agent, "q", ())
    assert fingerprints(agent, "q", ()) == one
    assert fingerprints(replace(agent, tools=agent.tools[:2]), "q", ()) != one
