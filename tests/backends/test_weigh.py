"""How likely a model holds the beginning of a reply."""

from __future__ import annotations

import math
from collections.abc import Sequence
from threading import Event

import numpy as np
import pytest

from local_react import LlamaModel, Sampling
from local_react.backends.sampling import log_probabilities
from local_react.choosing import YES_OR_NO
from local_react.core import Message
from local_react.errors import ContextFull

FLAT, FAR = [0.0] * 5, [3.0, -2.0, 700.0, 700.5, -np.inf]


@pytest.mark.parametrize("logits", [FLAT, FAR, [1e4, 1e4 + 1], [-3.25], [5.0, -1.5, 2.0, 0.25]])
def test_log_probabilities_are_those_of_a_softmax(logits: list[float]) -> None:
    most = max(logits)
    weights = [math.exp(logit - most) for logit in logits]
    expected = [weight / sum(weights) for weight in weights]
    row = np.array(logits, dtype=np.float32)
    found = log_probabilities(row, range(len(logits)))
    assert [math.exp(one) for one in found] == pytest.approx(expected, rel=1e-9)
    assert sum(math.exp(one) for one in found) == pytest.approx(1.0)
    assert row.tolist() == logits


def test_only_the_tokens_that_are_asked_for_are_told() -> None:
    found = log_probabilities(np.log(np.array([0.5, 0.25, 0.25], dtype=np.float32)), [2, 0, 2])
    assert found == pytest.approx([math.log(0.25), math.log(0.5), math.log(0.25)], rel=1e-6)


def chat(text: str) -> list[Message]:
    return [Message("system", "Be brief."), Message("user", text)]


def greedy(model: LlamaModel, text: str) -> str:
    context = model.start(chat(text), fixed=True)
    return "".join(context.generate("root ::= [a-z ]{12}", Sampling()))


def test_a_model_weighs_the_first_tokens(tiny: LlamaModel) -> None:
    context = tiny.start(chat("q"), fixed=True)
    while not (ready := tiny.engine.read([context])):
        pass
    row = ready[0][1].astype(np.float64)
    shares = np.exp(row - row.max()) / np.exp(row - row.max()).sum()
    firsts = [tiny.vocabulary.tokenize(option)[0] for option in YES_OR_NO]
    weighed = tiny.weigh(chat("q"), YES_OR_NO).logarithms
    assert [math.exp(one) for one in weighed] == pytest.approx(shares[firsts], rel=1e-3)


def test_what_is_weighed_must_fit(tiny: LlamaModel) -> None:
    with pytest.raises(ContextFull):
        tiny.weigh(chat("x" * 9000), YES_OR_NO)


def logarithms(model: LlamaModel, text: str, options: Sequence[str] = YES_OR_NO) -> Sequence[float]:
    return model.weigh(chat(text), options).logarithms


def test_what_was_read_to_weigh_is_told(tiny: LlamaModel) -> None:
    tokens = len(tiny.start(chat("q" * 30)).tokens)
    first, second = (tiny.weigh(chat("q" * 30), YES_OR_NO).usage for _ in range(2))
    assert 30 <= second.evaluated <= first.evaluated <= tokens
    assert first.generated == 0


def test_weighing_that_is_cancelled_reads_nothing_and_says_nothing(tiny: LlamaModel) -> None:
    stop = Event()
    stop.set()
    weighed = tiny.weigh(chat("q"), YES_OR_NO, cancel=stop)
    assert len(set(weighed.logarithms)) == 1
    assert weighed.usage.evaluated == 0


def check(model: LlamaModel) -> None:
    """Check that weighing gives probabilities, the same each time, and disturbs nothing."""
    before = [greedy(model, text) for text in ("one", "two")]
    weighed = logarithms(model, "Is water wet?")
    assert logarithms(model, "Is water wet?") == weighed
    assert logarithms(model, "Is fire cold?") != weighed
    assert logarithms(model, "Is water wet?", YES_OR_NO[::-1]) == weighed[::-1]
    assert all(one < 0 for one in weighed)
    assert 0 < sum(map(math.exp, weighed)) <= 1
    assert [greedy(model, text) for text in ("one", "two")] == before


def test_weighing_disturbs_nothing(tiny: LlamaModel) -> None:
    check(tiny)


@pytest.mark.model
def test_a_real_model_weighs_as_well(smollm: LlamaModel) -> None:
    check(smollm)
    weighed = dict(zip(YES_OR_NO, logarithms(smollm, "Say yes."), strict=True))
    assert max(weighed.values()) > math.log(1 / smollm.vocabulary.size)


def test_beside_a_reply_that_is_being_written_it_disturbs_nothing(tiny: LlamaModel) -> None:
    alone = greedy(tiny, "one")
    context = tiny.start(chat("one"), fixed=True)
    text = ""
    for piece in context.generate("root ::= [a-z ]{12}", Sampling()):
        text += piece
        assert len(logarithms(tiny, "q")) == len(YES_OR_NO)
    assert text == alone
