"""A transcript holds what a run depends on, and is read as it was written."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded_runs import HOSTILE, USUAL, call, calls, finish, recorded, tools

from local_react import Agent, Run, ScriptedModel, ToolError, calculator, tool
from local_react.core import Call, Sampling
from local_react.errors import UsageError
from local_react.places import cache_dir
from local_react.protocol import parse, step_grammar
from local_react.tools.base import Tool
from local_react.transcript import Recorder, bare, parsed
from local_react.transcript.model_hash import model_sha256


def test_the_lines_are_the_head_the_calls_the_steps_and_the_end() -> None:
    _, transcript = recorded()
    lines = [json.loads(line) for line in transcript.text.split("\n") if line]
    kinds = [line["type"] for line in lines]
    assert kinds == ["run", *["call"] * 4, *["step"] * 5, "end"]
    told = [(line["tool"], line["arguments"]) for line in lines if line["type"] == "call"]
    assert told == [
        ("weather", {"city": "Oslo"}),
        ("weigh", {"breed": "poodle"}),
        ("calculator", {"expression": "2 + 2"}),
        ("weather", {"city": "Nowhere"}),
    ]


def test_the_head_tells_how_the_run_was_made() -> None:
    run, transcript = recorded(
        facts=["lives in Oslo"],
        system="Be short.",
        max_steps=7,
        sampling=Sampling(temperature=0.5, seed=9),
        votes="auto",
    )
    head = transcript.head
    assert head["question"] == run.question
    assert (head["facts"], head["system"], head["model"]) == (
        ["lives in Oslo"],
        "Be short.",
        "scripted",
    )
    settings = head["settings"]
    assert (settings["max_steps"], settings["votes"]) == (7, "auto")
    assert settings["sampling"]["seed"] == 9
    assert settings["context_size"] == 100_000
    own = tools(calls())
    assert [told["schema"] for told in head["tools"]] == [one.schema for one in own]
    assert [told["may"] for told in head["tools"]] == [[], ["reads network"], [], ["writes"]]
    grammar = step_grammar(Agent(ScriptedModel([]), own).offered(run.question))
    assert head["grammar_sha256"] == hashlib.sha256(grammar.encode()).hexdigest()


def test_another_tool_is_another_grammar_and_another_fact_another_prompt() -> None:
    one, other = recorded()[1].head, recorded(facts=["x"])[1].head
    assert one["grammar_sha256"] == other["grammar_sha256"]
    assert one["prompt_sha256"] != other["prompt_sha256"]


def test_results_are_kept_as_the_tools_gave_them() -> None:
    _, transcript = recorded()
    weather, weigh, reckoned, nowhere = (one["result"] for one in transcript.calls)
    assert weather["passages"][0]["text"] == f"21 degrees in Oslo. {HOSTILE}"
    assert weather["note"] == "1 result"
    assert (weigh, reckoned) == ({"text": "38 lbs"}, {"text": "4"})
    assert nowhere == {"error": "there is no such city"}
    assert all(one["seconds"] >= 0 for one in transcript.calls)


def test_what_was_said_of_the_question_is_kept() -> None:
    _, transcript = recorded([finish("4")], question="2 + 2", votes=1)
    offers = {told["name"]: told["offer"] for told in transcript.head["tools"]}
    assert offers == {
        "calculator": {"expression": "2 + 2"},
        "weather": None,
        "weigh": None,
        "note": None,
    }


def test_a_recorded_tool_does_what_the_tool_does() -> None:
    count = calls()
    plain, noted = tools(count), Recorder().tools(tools(count))
    for one, other in zip(plain, noted, strict=True):
        assert isinstance(other, Tool)
        assert (one.name, one.description, one.schema) == (
            other.name,
            other.description,
            other.schema,
        )
        assert (one.may, one.own_words, one.offered) == (other.may, other.own_words, other.offered)
    assert noted[0].run({"expression": "2*3"}) == "6"
    with pytest.raises(ToolError, match="no such city"):
        noted[1].run({"city": "Nowhere"})
    with pytest.raises(ToolError, match="breed"):
        noted[2].run({})


def test_the_run_comes_back_whole() -> None:
    run, transcript = recorded()
    assert transcript.run == run
    assert parsed(transcript.text, "again") == transcript


def test_the_text_of_a_reply_gives_its_actions() -> None:
    cut = "Thought: hm\nAction: weigh {"
    _, transcript = recorded([call("a", ("weigh", {"breed": "é"})), cut, finish("x")])
    texts = [step["text"] for step in transcript.steps]
    assert texts[0] == call("a", ("weigh", {"breed": "é"}))
    assert texts[1] == cut
    assert parse(texts[2])[1][0] == transcript.run.steps[2].action


def test_a_line_holds_nothing_that_steers_a_terminal() -> None:
    text = recorded([*USUAL[:3], finish(f"{HOSTILE} \udc80 \U000e0041")])[1].text
    assert all(line.isprintable() for line in text.split("\n"))
    assert "dlrow" in text
    assert len(text.splitlines()) == text.count("\n")
    text.encode()


def test_letters_stay_letters() -> None:
    text = recorded([finish("Zürich 東京")], question="Où?")[1].text
    assert "Zürich 東京" in text


def test_calls_from_several_threads_are_all_noted_whole() -> None:
    recorder = Recorder()
    [noted] = recorder.tools([calculator])
    numbers = range(40)
    threads = [
        threading.Thread(target=noted.run, args=({"expression": f"{n} + 1"},)) for n in numbers
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    agent = Agent(ScriptedModel([]), [noted])
    text = recorder.finish(Run("q", (), "", "finish", "m"), agent)
    told = {
        one["arguments"]["expression"]: one["result"]["text"] for one in parsed(text, "it").calls
    }
    assert told == {f"{n} + 1": str(n + 1) for n in numbers}


def test_one_recorder_serves_several_runs() -> None:
    recorder = Recorder()
    agent = Agent(ScriptedModel([*USUAL]), recorder.tools(tools(calls())))
    first = parsed(recorder.finish(agent.run("weather?"), agent), "first")
    second = parsed(recorder.finish(agent.run("weather?"), agent), "second")
    assert len(first.calls) == len(second.calls) == 4


def test_what_the_user_said_is_noted() -> None:
    said: list[Any] = [True, False, Call("note", {"text": "c"})]
    replies = [call(f"{n}", ("note", {"text": n})) for n in ("a", "b", "d")]
    _, transcript = recorded([*replies, finish("x")], approve=lambda _: said.pop(0))
    assert [one["allowed"] for one in transcript.approvals] == [True, False, {"text": "c"}]
    assert [one["arguments"]["text"] for one in transcript.calls] == ["a", "c"]


def test_an_interrupted_call_is_not_noted() -> None:
    @tool
    def wait(seconds: int) -> str:
        """Wait."""
        raise KeyboardInterrupt

    recorder = Recorder()
    agent = Agent(ScriptedModel([call("a", ("wait", {"seconds": 1}))]), recorder.tools([wait]))
    runs = []
    with pytest.raises(KeyboardInterrupt):
        for event in agent.stream("wait?"):
            runs.append(event)
    run = runs[-1]
    assert isinstance(run, Run)
    assert parsed(recorder.finish(run, agent), "it").calls == []


def test_a_run_without_a_transcript_can_still_be_told() -> None:
    run, _ = recorded()
    assert bare(run, time="2026-01-01T00:00:00+00:00").run == run


GOOD = recorded()[1].text
HEAD, *REST = GOOD.rstrip("\n").split("\n")


def changed(line: str, **changes: Any) -> str:
    return json.dumps({**json.loads(line), **changes})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "first line"),
        ("\n\n", "first line"),
        ("hello", "line 1"),
        ("[1]", "line 1"),
        ('{"type": 3}', "line 1"),
        ("[" * 100_000, "line 1"),
        (HEAD, "breaks off"),
        ("\n".join([HEAD, *REST[:-1]]), "breaks off"),
        ("\n".join([HEAD, *REST[:3], REST[3][:40]]), "line 5"),
        ("\n".join(REST), "first line"),
        ("\n".join([HEAD, '{"type": "song"}', *REST]), "line 2"),
        ("\n".join([changed(HEAD, format=2), *REST]), "update local-react"),
        ("\n".join([changed(HEAD, question=3), *REST]), "question"),
        ("\n".join([changed(HEAD, tools=[{}]), *REST]), "head.tools.0"),
        ("\n".join([changed(HEAD, settings=[]), *REST]), "head.settings"),
        ("\n".join([changed(HEAD, earlier=[{}]), *REST]), "KeyError"),
        ("\n".join([HEAD, changed(REST[0], result="x"), *REST[1:]]), "calls.0.result"),
        ("\n".join([HEAD, changed(REST[0], result={}), *REST[1:]]), "calls.0.result"),
        (
            "\n".join([HEAD, changed(REST[0], result={"passages": [{}], "note": ""}), *REST[1:]]),
            "calls.0",
        ),
        ("\n".join([HEAD, *REST[:4], changed(REST[4], action=[]), *REST[5:]]), "no transcript"),
        ("\n".join([HEAD, *REST[:-1], changed(REST[-1], egress=[{}])]), "end.egress.0"),
        ("\n".join([HEAD, *REST[:-1], changed(REST[-1], stop_reason="x")]), "stop_reason"),
        ("\n".join([HEAD, *REST[:-1], changed(REST[-1], usage={"a": 1})]), "no transcript"),
        ("\n".join([HEAD, *REST[:-1], changed(REST[-1], seconds="x")]), "seconds"),
    ],
)
def test_what_is_no_transcript_is_named(text: str, told: str) -> None:
    with pytest.raises(UsageError) as failure:
        parsed(text, "FILE")
    assert told in str(failure.value)
    assert "FILE" in str(failure.value)
    assert "\n" not in str(failure.value)


def test_blank_lines_and_line_ends_of_windows_do_no_harm() -> None:
    assert parsed(GOOD.replace("\n", "\r\n\r\n"), "it") == parsed(GOOD, "it")


def test_a_models_hash_is_computed_once(
    own_places: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from local_react.download import part

    path = tmp_path / "own.gguf"
    path.write_bytes(b"GGUF and more")
    right = hashlib.sha256(path.read_bytes()).hexdigest()
    assert model_sha256(path) == right
    reads, whole = list[Path](), part.sha256_of

    def counted(path: Path, report: Callable[[int], None]) -> str:
        reads.append(path)
        return whole(path, report)

    monkeypatch.setattr(part, "sha256_of", counted)
    assert model_sha256(path) == right
    assert reads == []
    path.write_bytes(b"GGUF and something else")
    assert model_sha256(path) == hashlib.sha256(path.read_bytes()).hexdigest()
    assert reads == [path]
    assert model_sha256(tmp_path / "gone.gguf") is None


@pytest.mark.parametrize("damage", ["", "[" * 100_000, "[1]", '{"PATH": [1]}', '{"PATH": {}}'])
def test_a_damaged_list_of_hashes_costs_another_look(
    own_places: None, tmp_path: Path, damage: str
) -> None:
    path = tmp_path / "own.gguf"
    path.write_bytes(b"GGUF")
    right = hashlib.sha256(b"GGUF").hexdigest()
    assert model_sha256(path) == right
    directory = cache_dir()
    assert directory is not None
    (directory / "model_hashes.json").write_text(damage.replace("PATH", str(path)))
    assert model_sha256(path) == right


def test_with_the_cache_off_nothing_is_remembered(
    own_places: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "own.gguf"
    path.write_bytes(b"GGUF")
    monkeypatch.setenv("LOCAL_REACT_CACHE", "off")
    assert model_sha256(path) is None
