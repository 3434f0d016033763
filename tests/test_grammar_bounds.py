"""What the grammar of a step must not let a model do: go on without end, or make a name mean
another."""

from __future__ import annotations

import re
from typing import Annotated, Any

import pytest
from acceptance import admits, begins
from pydantic import Field

from local_react import Agent, LlamaModel, Network, Sampling, ToolError, builtin_tools, tool
from local_react.errors import UsageError
from local_react.protocol import action_grammar, check, step_grammar
from local_react.tools.base import AnyTool

STEP = 'Thought: t\nAction: echo {"text": "x"}'


@tool
def echo(text: str, times: int = 1, spread: bool = False) -> str:
    """Return the text."""
    return text


@tool
def many(
    a: int = 0, b: int = 0, c: int = 0, d: int = 0, e: int = 0, f: int = 0, g: int = 0, h: int = 0,
    j: int = 0, k: int = 0, m: int = 0, n: int = 0,
) -> str:  # fmt: skip
    """Add them up."""
    return str(a + b + c + d + e + f + g + h + j + k + m + n)


def grammars() -> dict[str, str]:
    tools = [*builtin_tools(Network("allow")), echo, many]
    return {"step": step_grammar(tools), "action": action_grammar(tools), "end": step_grammar([])}


# -- white space ---------------------------------------------------------------------


@pytest.mark.parametrize("space", [" ", "\n", "\t", "\r", "\u00a0"])
@pytest.mark.parametrize("place", range(STEP.index("Action:") + 7, len(STEP)))
def test_nowhere_between_the_parts_of_an_action_may_white_space_grow(
    tiny: LlamaModel, space: str, place: int
) -> None:
    grammar, before = step_grammar([echo]), STEP[:place]
    assert begins(tiny, grammar, before)
    if before.endswith((': "', "x")):  # the text itself
        assert not begins(tiny, grammar, before + "\n")
    else:
        assert not begins(tiny, grammar, before + space * 2)


def test_the_white_space_of_a_thought_is_bounded(tiny: LlamaModel) -> None:
    grammar = step_grammar([echo])
    assert not begins(tiny, grammar, "Thought: t\n\n\n")
    assert not begins(tiny, grammar, "Thought: t" + " " * 30)
    assert not begins(tiny, grammar, f"{STEP}\n\n")


@pytest.mark.parametrize("name", ["step", "action", "end"])
def test_no_rule_repeats_white_space_without_bound(name: str) -> None:
    for rule in grammars()[name].splitlines():
        classes = re.findall(r"\[((?:[^\]\\]|\\.)*)\](?:[*+]|\{\d*,\})", rule)
        blank = [found for found in classes if re.fullmatch(r"(?: |\\[ntr]|\\x20)+", found)]
        assert blank == [], rule
        assert not re.search(r'"(?: |\\n)+"[*+]', rule)


# -- what makes a grammar slow -------------------------------------------------------


@pytest.mark.parametrize("name", ["step", "action", "end"])
def test_no_rule_is_a_row_of_parts_that_may_each_be_left_out(name: str) -> None:
    for rule in grammars()[name].splitlines():
        bare = re.sub(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]', "x", rule)
        assert not re.search(r"(?:[\w-]+\? ){7}[\w-]+\?", bare), rule


def test_many_optional_parts_may_be_left_out_in_any_way(tiny: LlamaModel) -> None:
    grammar = action_grammar([many])
    for given in ("", '"a": 1', '"n": 12', '"b": 2, "k": 11', '"a": 1, "f": 6, "n": 12'):
        assert admits(tiny, grammar, f" many {{{given}}}"), given
    assert not admits(tiny, grammar, ' many {"k": 11, "b": 2}')


# -- names ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["get_rate", "_x", "A1", "root", "char", "Thought", "f_1_g"])
def test_the_action_is_the_tools_name_to_the_letter(tiny: LlamaModel, name: str) -> None:
    named = tool(name=name)(_plain)
    check(tiny, [named])
    grammar = step_grammar([named, echo])
    assert admits(tiny, grammar, f'Thought: t\nAction: {name} {{"text": "x"}}')
    for other in {name.upper(), name.lower(), name.replace("_", "-"), f"{name}x"} - {name}:
        assert not admits(tiny, grammar, f'Thought: t\nAction: {other} {{"text": "x"}}')
    rules = re.findall(r"^(\S+) ::=", grammar, re.MULTILINE)
    assert [rule for rule in rules if not re.fullmatch("[a-zA-Z0-9-]+", rule)] == []


@pytest.mark.parametrize("name", ["währung", 'a"b\\c]-d', "a b", "1st", "a-b", "名前", "a\nb"])
def test_a_name_that_no_grammar_can_hold_is_refused_with_what_can(name: str) -> None:
    with pytest.raises(UsageError, match="use letters, digits and _"):
        tool(name=name)(_plain)


def _plain(text: str) -> str:
    """Return the text."""
    return text


# -- limits --------------------------------------------------------------------------


def limited(most: int) -> AnyTool:
    def keep(text: str) -> str:
        """Keep it."""
        return f"kept {len(text)}"

    keep.__annotations__["text"] = Annotated[str, Field(max_length=most)]
    return tool(keep)


@pytest.mark.parametrize("most", [1, 1999, 2000, 2001, 2500, 10_000])
def test_a_longest_length_holds_however_large(tiny: LlamaModel, most: int) -> None:
    keep = limited(most)
    check(tiny, [keep])
    grammar = action_grammar([keep])
    fits, over = "a" * most, "a" * (most + 50)
    if most <= 2500:  # following a long text takes a while
        assert admits(tiny, grammar, f' keep {{"text": "{fits}"}}')
        assert admits(tiny, grammar, f' keep {{"text": "{over}"}}') == (most > 2000)
    assert keep.run({"text": fits}) == f"kept {most}"
    with pytest.raises(ToolError, match=f"argument text: .*at most {most} character"):
        keep.run({"text": over})


@pytest.mark.parametrize("most", [1999, 2000, 2001, 10_000])
def test_a_longest_list_holds_however_large(tiny: LlamaModel, most: int) -> None:
    def total(numbers: list[int]) -> str:
        """Add them up."""
        return str(sum(numbers))

    total.__annotations__["numbers"] = Annotated[list[int], Field(max_length=most)]
    adds = tool(total)
    check(tiny, [adds])
    assert adds.run({"numbers": [1] * most}) == str(most)
    with pytest.raises(ToolError, match=f"argument numbers: .*at most {most} items"):
        adds.run({"numbers": [1] * (most + 1)})


# -- a real model --------------------------------------------------------------------


@pytest.mark.model
def test_a_weak_and_warm_model_ends_by_itself_twenty_times(smollm: LlamaModel) -> None:
    for seed in range(20):
        sampling = Sampling(temperature=0.8, seed=seed)
        run = Agent(smollm, thought_tokens=40, action_tokens=100, sampling=sampling).run("Say hi")
        assert run.stop_reason == "finish", (seed, run)
        assert run.usage.generated <= 200
        assert not run.steps[-1].thought.endswith("\n\n\n")


@pytest.mark.model
def test_another_question_is_answered_as_a_fresh_process_would(models: None) -> None:
    def answers(*questions: str) -> list[Any]:
        with LlamaModel("smollm2-135m", warm_start=False) as model:
            agent = Agent(model, [echo], max_steps=2, thought_tokens=30)
            runs = [agent.run(question) for question in questions]
        return [(step.thought, step.action) for step in runs[-1].steps]

    first, second = "Who wrote Faust?", "Who wrote Hamlet?"
    assert answers(first, second) == answers(second) != []
