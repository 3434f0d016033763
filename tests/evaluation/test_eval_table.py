"""The table, and what it says of pairs of arms."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from local_react.evaluation.figures import paired, pooled, share_parsed
from local_react.evaluation.rows import Row
from local_react.evaluation.table import table

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from quality.bars import missed

ROW = Row(
    id="0",
    set="gsm8k",
    arm="cot",
    model="m",
    seed=0,
    temperature=0.0,
    together=1,
    question="q",
    answer="a",
    expected="a",
    right=True,
    scores={},
    seconds=2.0,
    replies=1,
    calls=(),
    malformed=0,
    ended="reply",
    tokens=10,
    confidence=None,
    trace=({"prompt": "p", "reply": "a"},),
)
STEP = {"thought": "t", "action": "Finish a", "observation": ""}


def rows(arm: str, right: str, *, name: str = "gsm8k", seconds: float = 2.0) -> list[Row]:
    """Return a row for each mark: + is right, - is wrong."""
    trace = (STEP,) if arm.startswith("agent") else ROW.trace
    return [
        replace(ROW, id=str(n), set=name, arm=arm, right=mark == "+", seconds=seconds, trace=trace)
        for n, mark in enumerate(right)
    ]


def test_a_pair_is_of_the_questions_that_both_have() -> None:
    pair = paired([*rows("cot", "++--"), *rows("agent", "+-++--", seconds=3.0)], "cot", "agent")
    assert (pair.count, pair.gained, pair.lost) == (4, 2, 1)
    assert pair.difference == 0.25
    assert pair.p == 1.0
    assert pair.pace == 1.5


def test_times_that_were_not_taken_alike_are_not_compared() -> None:
    many = [replace(row, together=8) for row in rows("agent", "++")]
    assert paired([*rows("cot", "++"), *many], "cot", "agent").pace is None


def test_sets_are_pooled_that_every_arm_was_asked() -> None:
    own = [*rows("cot", "+"), *rows("agent", "-")]
    both = [*own, *rows("cot", "-", name="svamp"), *rows("agent", "+", name="svamp")]
    assert pooled(own, ("cot", "agent")) == []
    assert pooled([*both, *rows("agent", "+", name="bfcl")], ("cot", "agent")) == both


def lines_of(rows: Sequence[Row], start: str) -> list[str]:
    return [line for line in table(rows).splitlines() if line.startswith(start)]


def test_the_table_has_a_line_for_each_arm_of_each_set_and_of_all() -> None:
    both = [
        *rows("cot", "+---"), *rows("agent", "+++-"),
        *rows("cot", "++--", name="svamp"), *rows("agent", "++++", name="svamp"),
    ]  # fmt: skip
    told = table(both)
    assert "wall time of a question" in told
    (line,) = lines_of(both, "gsm8k agent")
    assert line.split()[:4] == ["gsm8k", "agent", "4", "75.0%"]
    assert line.endswith("100.0%")
    assert [line.split()[:4] for line in lines_of(both, "all ")] == [
        ["all", "cot", "8", "37.5%"],
        ["all", "agent", "8", "87.5%"],
    ]
    assert lines_of(both, "all: agent over cot") == [
        "all: agent over cot, n 8: +50.0% right (4 gained, 0 lost, McNemar p = 0.125)"
    ]
    assert "all: agent takes 1.00 times as long as cot" in told


def test_words_have_f1_and_the_interval_of_its_difference() -> None:
    def scored(arm: str, *values: float) -> list[Row]:
        return [
            replace(row, right=value == 1.0, scores={"em": float(value == 1.0), "f1": value})
            for row, value in zip(rows(arm, "-" * len(values)), values, strict=True)
        ]

    both = [*scored("retrieval", 0.5, 0.5, 0.0), *scored("agent", 1.0, 1.0, 0.5)]
    (line,) = lines_of(both, "gsm8k agent")
    assert "66.7%" in line
    assert "83.3%" in line
    assert "F1 +50.0% (+50.0% to +50.0%)" in table(both)


def test_confidence_is_set_against_what_was_right() -> None:
    sure = [
        replace(row, confidence=value)
        for row, value in zip(rows("agent", "+++-+-"), (1.0, 1.0, 1.0, 0.2, 0.2, None), strict=True)
    ]
    told = table(sure)
    assert "agent: confidence, share right" in told
    assert "  1.00        100.0% (44% to 100%) of 3" in told
    assert "  0.20         50.0% (9% to 91%) of 2" in told
    many = [replace(row, confidence=n / 19) for n, row in enumerate(rows("agent", "+" * 20))]
    assert "  0.8 to 1.0  100.0% (51% to 100%) of 4" in table(many)
    assert "confidence" not in table(rows("agent", "+"))


def test_errors_are_told_in_a_line_each() -> None:
    failed = [replace(row, error="E: one\ntwo") for row in rows("cot", "--")]
    assert table(failed).endswith("2 raised an error and count as wrong, such as:\n  E: one two")


def test_several_at_once_are_told() -> None:
    at_once = [replace(row, together=16) for row in rows("cot", "+")]
    assert "wall time over questions, 16 at once" in table(at_once)
    assert "not to be compared" in table([*rows("agent", "+"), *at_once])
    assert table([]) == "no question was asked"


def test_steps_that_do_not_parse_are_counted() -> None:
    assert share_parsed([replace(ROW, replies=4, malformed=1), ROW]) == 0.8
    assert share_parsed([replace(ROW, replies=0)]) == 1.0


def test_bars_that_are_reached_are_not_told() -> None:
    both = [*rows("cot", "-" * 10), *rows("agent", "+" * 10, seconds=3.0)]
    svamp = [replace(row, set="svamp") for row in both]
    assert missed([*both, *svamp]) == []


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ([*rows("cot", "++--"), *rows("agent", "++--")],
         "agent, GSM8K over chain of thought: +0.0%, should be at least +8.0%"),
        (rows("agent", "+-", name="bfcl-simple"),
         "agent, BFCL simple: 50.0%, should be at least 80.0%"),
        ([replace(row, malformed=1) for row in rows("agent:max_steps=2", "+", name="fever")],
         "agent:max_steps=2, steps that parse: 0.00%, should be at least 100.00%"),
        ([*rows("cot", "+", name="fever"), *rows("agent", "+", name="fever", seconds=4.0)],
         "agent, seconds against chain of thought: 2.00, should be at most 1.50"),
        ([replace(row, scores={"em": 0.0, "f1": 0.5})
          for arm in ("retrieval", "agent") for row in rows(arm, "-", name="hotpotqa")],
         "agent, HotpotQA, F1 over one pass of retrieval: +0.0%, should be above +0.0%"),
    ],
)  # fmt: skip
def test_a_bar_that_is_missed_is_told(own: list[Row], told: str) -> None:
    assert missed(own) == [told]


def test_a_difference_the_wrong_way_is_no_gain() -> None:
    both = [
        *rows("cot", "+" * 10), *rows("agent", "-" * 10),
        *rows("cot", "+" * 10, name="svamp"), *rows("agent", "-" * 10, name="svamp"),
    ]  # fmt: skip
    assert "agent, GSM8K and SVAMP together, p: 1, should be at most 0.05" in missed(both)


def test_votes_may_take_longer() -> None:
    own = [*rows("cot", "+", name="fever"), *rows("agent:votes=5", "+", name="fever", seconds=9.0)]
    assert missed(own) == []
