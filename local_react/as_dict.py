"""Runs as JSON's types, and back: what `--json` prints and a transcript holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from local_react.core import (
    Action,
    Call,
    Event,
    Finish,
    Malformed,
    Run,
    Source,
    Step,
    Text,
    Usage,
    Vote,
)


def run_as_dict(run: Run) -> dict[str, Any]:
    """Return the run as JSON's types."""
    return {
        "question": run.question,
        "answer": run.answer,
        "stop_reason": run.stop_reason,
        "confidence": run.confidence,
        "computed": run.computed,
        "votes": [asdict(vote) for vote in run.votes],
        "guards": dict(run.guards),
        "model": run.model,
        "sources": [asdict(source) for source in run.sources],
        "steps": [step_as_dict(step) for step in run.steps],
        "usage": asdict(run.usage),
        "seconds": run.seconds,
    }


def step_as_dict(step: Step) -> dict[str, Any]:
    """Return the step as JSON's types."""
    return {**asdict(replace(step, action=Finish(""))), "action": action_as_dict(step.action)}


def action_as_dict(action: Action) -> dict[str, Any]:
    """Return the Action as JSON's types: a tool and its arguments, an answer, or what is
    neither, and why."""
    if isinstance(action, Call):
        return {"tool": action.tool, "arguments": dict(action.arguments)}
    if isinstance(action, Finish):
        return {"finish": action.answer}
    return {"malformed": action.text, "reason": action.reason}


def event_as_dict(event: Event) -> dict[str, Any]:
    """Return what a run yields as one object that says what it is: `type` is "text", "step"
    or "run"."""
    if isinstance(event, Text):
        return {"type": "text", "text": event.text}
    if isinstance(event, Step):
        return {"type": "step", **step_as_dict(event)}
    return {"type": "run", **run_as_dict(event)}


def run_from_dict(told: Mapping[str, Any]) -> Run:
    """Return the run that `run_as_dict` told. Raises KeyError or TypeError where that is
    none."""
    return Run(
        question=told["question"],
        steps=tuple(step_from_dict(step) for step in told["steps"]),
        answer=told["answer"],
        stop_reason=told["stop_reason"],
        model=told["model"],
        guards=dict(told["guards"]),
        votes=tuple(Vote(**{**vote, "usage": Usage(**vote["usage"])}) for vote in told["votes"]),
        computed=told["computed"],
        usage=Usage(**told["usage"]),
        seconds=told["seconds"],
    )


def step_from_dict(told: Mapping[str, Any]) -> Step:
    """Return the step that `step_as_dict` told. Raises KeyError or TypeError where that is
    none."""
    return Step(
        thought=told["thought"],
        action=_action_from_dict(told["action"]),
        observation=told["observation"],
        sources=tuple(Source(**source) for source in told["sources"]),
        usage=Usage(**told["usage"]),
        seconds=told["seconds"],
        reply=told["reply"],
    )


def _action_from_dict(told: Mapping[str, Any]) -> Action:
    if "tool" in told:
        return Call(told["tool"], dict(told["arguments"]))
    if "finish" in told:
        return Finish(told["finish"])
    return Malformed(told["malformed"], told["reason"])
