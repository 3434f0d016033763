"""Whole runs full of hostile text: what is kept of them, what is printed, and how they end."""

from __future__ import annotations

import argparse
import io
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

from common import names

from local_react import Agent, LlamaModel, ScriptedModel, ToolError, tool
from local_react.as_dict import run_as_dict, run_from_dict
from local_react.cli.main import run as command
from local_react.cli.show import printable
from local_react.core import Call, Findings, Finish, Run
from local_react.errors import ContextFull
from local_react.history import History
from local_react.protocol import written
from local_react.tools.base import AnyTool
from local_react.transcript import Recorder, Replay, first_difference, parsed
from trials.hostile_text import findings, hostile, is_plain, name
from trials.stage import CODES
from trials.trial import Report, Trial

_ENCODINGS = ("utf-8", "ascii", "cp1252", "cp437")


def _tools(random: Random) -> list[AnyTool]:
    """Return tools that bring hostile text from outside, tell it as their own, and fail with
    it."""

    @tool(may=["reads network"])
    def look_up(query: str) -> Findings:
        """Look something up."""
        return findings(random)

    @tool
    def tell(text: str) -> str:
        """Tell something."""
        return hostile(random)

    @tool
    def fail(text: str) -> str:
        """Fail."""
        raise ToolError(hostile(random))

    return [look_up, tell, fail]


def _replies(random: Random) -> list[str]:
    calls = [
        written(hostile(random), Call(name, {field: hostile(random)}))
        for name, field in (("look_up", "query"), ("tell", "text"), ("fail", "text"))
    ]
    ends = [written(hostile(random), Finish(f"a {hostile(random)}")) for _ in range(9)]
    return [*calls, hostile(random), *ends]


def _recorded(random: Random) -> tuple[Run, str, list[str]]:
    """Return a run, its transcript, and what its model wrote."""
    recorder, replies, facts = Recorder(), _replies(random), [hostile(random)]
    model = ScriptedModel(replies, name=name(random))
    agent = Agent(model, recorder.tools(_tools(random)), system=hostile(random), max_steps=7)
    *_, run = agent.stream(f"q {hostile(random)}", facts=facts)
    assert isinstance(run, Run)
    return run, recorder.finish(run, agent, facts=facts), replies


def _kept(attempts: int, random: Random) -> Report:
    failures = list[str]()
    with TemporaryDirectory() as place:
        history = History(Path(place) / "kept" / "history.sqlite")
        for _ in range(attempts):
            run, text, replies = _recorded(random)
            file = Path(place) / "run.jsonl"
            file.write_bytes(text.encode())
            changed = [*_changed(run, file.read_bytes().decode(), replies)]
            run_id = history.add(run, transcript=text)
            if history.run(run_id) != run or history.transcript(run_id) != text:
                changed.append("in the history")
            failures += [f"changed {where}: {run.question!r:.200}" for where in changed]
    return Report(attempts, failures)


def _changed(run: Run, text: str, replies: Sequence[str]) -> Iterator[str]:
    """Yield where a run is not what it was."""
    transcript = parsed(text, "it")
    if transcript.run != run:
        yield "in the transcript"
    if run_from_dict(json.loads(json.dumps(run_as_dict(run)))) != run:
        yield "as JSON"
    if not all(is_plain(line) for line in text.split("\n")):
        yield "a terminal by its transcript"
    *_, again = Replay(transcript, ScriptedModel(replies)).stream()
    assert isinstance(again, Run)
    if difference := first_difference(run, again):
        yield f"in a replay ({difference})"


def _printed(attempts: int, random: Random) -> Report:
    failures = list[str]()
    for number in range(attempts):
        with TemporaryDirectory() as place, patch.dict(os.environ, _surroundings(place)):
            run, text, _ = _recorded(random)
            history = History()
            history.add(run, transcript=text, session="talk")
            history.remember(f"I {hostile(random, most=9)}"[:200])
            commands = [
                *_shown(),
                *_asked_for(random),
                *(_documents(place, random) if number % 10 == 0 else ()),
            ]
            for arguments in commands:
                failures += _badly_printed(arguments, random.choice(_ENCODINGS))
    return Report(attempts, failures, f"in {', '.join(_ENCODINGS)}")


def _surroundings(place: str) -> dict[str, str]:
    kept = {"DATA_DIR": "data", "CACHE": "cache", "CONFIG": "config", "MODELS": "models"}
    return {f"LOCAL_REACT_{name}": f"{place}/{folder}" for name, folder in kept.items()}


def _shown() -> list[list[str]]:
    """Return commands that show what is kept."""
    return [
        *(["trace", "list"], ["trace", "list", "--json"], ["trace", "show", "last"]),
        *(["trace", "export", "last"], ["sessions", "list"], ["sessions", "show", "talk"]),
        *(["sessions", "list", "--json"], ["memory", "list"], ["memory", "list", "--json"]),
        *(["sessions", "export", "talk"], ["trace", "show", "last", "--json"]),
    ]


def _asked_for(random: Random) -> list[list[str]]:
    """Return commands that are given names that there are not."""
    given = name(random)
    return [
        *(["trace", "show", given], ["sessions", "show", given], ["models", "show", given]),
        *(["docs", "remove", given], ["tools", "show", given], ["config", "get", given]),
        *(["--offline", "-n", "-m", given, "q"], ["memory", "forget", given], ["calc", given]),
    ]


def _documents(place: str, random: Random) -> list[list[str]]:
    """Make documents with hostile names, and return commands that tell of them."""
    folder = Path(place) / "papers"
    folder.mkdir()
    for _ in range(4):
        file = folder / f"{name(random).replace('/', '')[:40]}.txt"
        file.write_text(f"lease {hostile(random)}", "utf-8", "replace")
    return [
        *(["docs", "add", str(folder)], ["docs", "list"], ["docs", "status"]),
        *(["docs", "search", "lease"], ["docs", "search", "lease", "--json"]),
    ]


def _badly_printed(arguments: Sequence[str], encoding: str) -> Iterator[str]:
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        code = command(list(arguments))
        for stream in streams:
            stream.flush()
    # click writes UTF-8 where a stream says that it is ASCII.
    known = "utf-8" if encoding == "ascii" else encoding
    out, err = (stream.buffer.getvalue().decode(known) for stream in streams)
    told = f"{arguments!r:.100} in {encoding}"
    if code not in CODES or "internal error" in err or "Traceback" in err:
        yield f"{told} ends with {code}: {err[-200:]!r}"
    for text in (out, err):
        if not is_plain(text):
            yield f"{told} prints {[c for c in text if not is_plain(c)]!r:.100}"
    if "--json" in arguments and code == 0:
        json.loads(out)


def _answered(attempts: int, random: Random) -> Report:
    here = names(argparse.Namespace(model=None))
    small = [name for name in here if "135" in name or "gemma" in name.casefold()] or here[:1]
    failures, ends = list[str](), Counter[str]()
    with ExitStack() as stack:
        models = [stack.enter_context(LlamaModel(name)) for name in small[:attempts]]
        for number in range(attempts):
            model, question = models[number % len(models)], f"Say it. {hostile(random, most=12)}"
            try:
                run, is_whole = _real(model, question, random)
            except ContextFull:  # a long one
                ends["refused"] += 1
                continue
            ends[run.stop_reason] += 1
            if not is_whole or not is_plain(printable(run.answer)):
                failures.append(f"{model.name}: {question!r:.200}")
    told = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
    return Report(attempts, failures, f"{' and '.join(model.name for model in models)}: {told}")


def _real(model: LlamaModel, question: str, random: Random) -> tuple[Run, bool]:
    """Return a run in which the model goes on from what hostile tools gave, and whether its
    transcript tells it as it was. Raises ContextFull."""
    recorder, given = Recorder(), _replies(random)[: random.randint(0, 2)]
    agent = Agent(
        model,
        recorder.tools(_tools(random)),
        max_steps=3,
        thought_tokens=16,
        action_tokens=32,
        observation_tokens=200,
        votes=1,
    )
    *_, run = agent.stream(question, given=given)
    assert isinstance(run, Run)
    return run, parsed(recorder.finish(run, agent), "it").run == run


TRIALS: tuple[Trial, ...] = (
    Trial(
        "kept-runs",
        "runs of hostile text: transcript, history, JSON, replay are the same",
        _kept,
        whole=600,
        short=30,
    ),
    Trial(
        "printed-text",
        "commands that show hostile runs, names and files, in old encodings",
        _printed,
        whole=60,
        short=2,
    ),
    Trial(
        "hostile-questions",
        "questions and tool output of hostile text, to real small models",
        _answered,
        whole=16,
        short=1,
        model=True,
    ),
)
