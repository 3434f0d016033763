"""A process that asks llama.cpp of grammars: one job a line, a line for each answer.

What brings it down is the job that has no answer. The model is one of random weights.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import llama_cpp
import numpy as np
from tiny_model import write_tiny_model

from local_react import LlamaModel, Sampling
from local_react.core import Call, Message
from local_react.errors import GrammarError
from local_react.gbnf import Rules
from local_react.protocol import action_grammar, check, parse, step_grammar
from local_react.tools.base import AnyTool
from trials.grammar_cases import SCHEMAS
from trials.grammar_tools import tool_set

_MEMORY = 6 << 30
"""Bytes of address space."""
_REPLIES = 40
"""Replies under the grammar of one set of tools."""
_MOST = 100
"""Tokens of a reply."""


def main() -> None:
    """Answer the jobs of standard input."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    with TemporaryDirectory() as folder:
        path = write_tiny_model(Path(folder) / "tiny.gguf")
        with LlamaModel(path, threads=1, warm_start=False) as model:
            for line in sys.stdin:
                print(json.dumps(_answer(model, json.loads(line))), flush=True)


def _answer(model: LlamaModel, job: dict[str, Any]) -> dict[str, Any]:
    """Return what became of a job; what is raised beside a GrammarError is told as it is."""
    try:
        if "seed" in job:
            return _noise(model, job["seed"])
        grammar = job["grammar"] if "grammar" in job else _grammar_of(_schema(job))
        model.check(grammar)
        if job.get("write"):
            _written(model, grammar, 0, _MOST)
        return {"admits": [_admits(model, grammar, text) for text in job.get("texts", ())]}
    except GrammarError as error:
        return {"refused": str(error)}
    except Exception as error:  # noqa: BLE001 - which is what is looked for
        return {"raised": f"{type(error).__name__}: {error}"[:300]}


def _schema(job: dict[str, Any]) -> Any:
    # Some of the hostile ones are no JSON, and come by their names.
    return SCHEMAS[job["hostile"]] if "hostile" in job else job["schema"]


def _grammar_of(schema: Any) -> str:
    rules = Rules()
    rules.add("root", rules.schema("value", schema))
    return rules.text()


def _admits(model: LlamaModel, grammar: str, text: str) -> bool:
    state = model.grammars.start(grammar)
    try:
        for token in model.vocabulary.tokenize(text):
            if not model.grammars.admits(state, token):
                return False
            llama_cpp.llama_sampler_accept(state, token)
        end = np.array([model.vocabulary.eos])
        return len(model.grammars.admitted(state, end)) == 1
    finally:
        llama_cpp.llama_sampler_free(state)


def _noise(model: LlamaModel, seed: int) -> dict[str, Any]:
    """Write replies under the grammar of a set of tools; tell of those that ended whether
    they parse and validate."""
    random = Random(seed)
    tools = tool_set(random)
    check(model, tools)
    # A Thought of noise seldom ends: a whole step is written now and then.
    step = step_grammar(tools), "", _MOST // 3
    action = action_grammar(tools, must_call=True), "Thought: t\nAction:", _MOST
    any_action = action_grammar(tools), "Thought: t\nAction:", _MOST
    failures, ended, calls = [], 0, 0
    for number in range(_REPLIES):
        grammar, before, most = (step, action, action, any_action)[number % 4]
        text = _written(model, grammar, seed * _REPLIES + number, most)
        if text is None:
            continue
        ended += 1
        faults, made = _faults(tools, before + text)
        failures += faults
        calls += made
    return {"failures": failures, "ended": ended, "calls": calls}


def _written(model: LlamaModel, grammar: str, seed: int, most: int) -> str | None:
    """Return what noise writes, or None where it did not come to its end."""
    context = model.start([Message("user", "x")])
    pieces = context.generate(grammar, Sampling(temperature=1.0, seed=seed))
    found = list(islice(pieces, most))
    return "".join(found) if len(found) < most else None


def _faults(tools: list[AnyTool], text: str) -> tuple[list[str], int]:
    named = {tool.name: tool for tool in tools}
    found: list[str] = []
    calls = 0
    for action in parse(text)[1]:
        if isinstance(action, Call):
            calls += 1
            found += _faults_of(named.get(action.tool), action, text)
        elif type(action).__name__ == "Malformed":
            found.append(f"does not parse: {text!r}")
    return found, calls


def _faults_of(tool: AnyTool | None, call: Call, text: str) -> Iterator[str]:
    if tool is None:
        yield f"no such tool: {text!r}"
    elif "\ufffd" not in text:  # half a character of noise
        try:
            tool.arguments.model_validate(dict(call.arguments))
        except ValueError as error:
            yield f"{tool.name} does not validate: {' '.join(str(error).split())}: {text!r}"[:400]


if __name__ == "__main__":
    main()
