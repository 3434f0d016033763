"""The arms as a person writes them."""

from __future__ import annotations

import pytest

from local_react import calculator, current_time
from local_react.core import Sampling
from local_react.errors import UsageError
from local_react.evaluation.settings import read_arm


def test_an_arm_alone() -> None:
    arm = read_arm("cot")
    assert (arm.label, arm.kind, arm.agent, arm.tools) == ("cot", "cot", {}, None)


def test_settings_have_the_types_of_the_fields() -> None:
    arm = read_arm("agent:max_steps=5, thought-tokens=200,temperature=0.7,tools=calculator")
    assert arm.agent == {"max_steps": 5, "thought_tokens": 200}
    assert arm.sampling(Sampling(seed=3)) == Sampling(temperature=0.7, seed=3)
    assert arm.chosen([current_time, calculator]) == [calculator]
    assert arm.label == "agent:max_steps=5, thought-tokens=200,temperature=0.7,tools=calculator"


def test_tools_are_chosen_by_name() -> None:
    both = [current_time, calculator]
    assert read_arm("agent").chosen(both) == both
    assert read_arm("agent:tools=none").chosen(both) == []
    assert read_arm("agent:tools=calculator+current_time").chosen(both) == both
    with pytest.raises(UsageError, match="did you mean calculator"):
        read_arm("agent:tools=calculater").chosen(both)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("agnet", "did you mean agent"),
        ("agent:max_step=5", "did you mean max_steps"),
        ("agent:tool=calculator", "did you mean tools"),
        ("agent:max_steps=many", "max_steps=many: .*integer"),
        ("agent:max_steps", "should be NAME=VALUE"),
        ("agent:model=x", "no setting 'model'"),
        ("cot:max_steps=5", "has no settings"),
        ("", "there is no arm ''"),
    ],
)
def test_what_there_is_not_is_told_with_the_nearest(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read_arm(text)


def test_a_figure_out_of_its_range_is_told() -> None:
    with pytest.raises(UsageError, match="agent:top_p=2: top-p must be"):
        read_arm("agent:top_p=2").sampling(Sampling())
