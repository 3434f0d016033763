"""Which model to take: by memory, role, and what was measured."""

from __future__ import annotations

import pytest

from local_react.catalog import load_catalogue
from local_react.profiles import Profile, save_profile
from local_react.recommending import Rate, measured_rates, recommend

CATALOGUE = load_catalogue()
GIB = 2**30


def bytes_of(name: str) -> int:
    return CATALOGUE.find(name).bytes


@pytest.mark.parametrize(
    ("gib", "take"),
    [
        (64.0, CATALOGUE.recommended),
        (CATALOGUE.find(CATALOGUE.recommended).memory, CATALOGUE.recommended),
        (CATALOGUE.find(CATALOGUE.recommended).memory - 0.01, CATALOGUE.default),
        (CATALOGUE.find(CATALOGUE.default).memory, CATALOGUE.default),
        (CATALOGUE.find(CATALOGUE.default).memory - 0.01, "qwen2.5-coder-0.5b"),
        (CATALOGUE.find(CATALOGUE.test).memory, CATALOGUE.test),
        (CATALOGUE.find(CATALOGUE.test).memory - 0.01, None),
    ],
)
def test_the_role_decides_among_what_fits(gib: float, take: str | None) -> None:
    found = recommend(CATALOGUE, round(gib * GIB), {})
    assert (found.take and found.take.model.name) == take
    assert (found.short_by > 0) is (take is None)
    assert all(candidate.needed <= found.available for candidate in found.fitting)


def test_the_best_come_first_and_all_that_fit_are_there() -> None:
    names = [one.model.name for one in recommend(CATALOGUE, 1 << 40, {}).fitting]
    assert names == [model.name for model in reversed(CATALOGUE.models)]


def test_what_is_short_is_that_of_the_smallest() -> None:
    found = recommend(CATALOGUE, GIB // 2, {})
    assert found.fitting == ()
    assert found.smallest.model.memory == min(model.memory for model in CATALOGUE.models)
    assert found.short_by == found.smallest.needed - GIB // 2


def rates(measured: dict[str, float]) -> dict[str, Rate | None]:
    found = recommend(CATALOGUE, 1 << 40, measured)
    return {candidate.model.name: candidate.rate for candidate in found.fitting}


def test_without_a_measurement_there_is_no_rate() -> None:
    assert set(rates({}).values()) == {None}


def test_a_measured_rate_stands_and_others_go_by_the_size_of_the_nearest() -> None:
    told = rates({"smollm2-135m": 100.0, "qwen2.5-coder-1.5b": 10.0})
    assert told["smollm2-135m"] == Rate(100.0)
    assert told["qwen2.5-coder-1.5b"] == Rate(10.0)
    large, near = told["qwen3-8b"], told["qwen3-0.6b"]
    assert large and large.estimated_from == "qwen2.5-coder-1.5b"
    assert large.tokens_per_second == pytest.approx(
        10 * bytes_of("qwen2.5-coder-1.5b") / bytes_of("qwen3-8b")
    )
    assert near and near.estimated_from == "qwen2.5-coder-1.5b"  # 2.8 times as large, not 4


@pytest.mark.usefixtures("own_places")
def test_the_rates_are_those_of_the_profiles() -> None:
    save_profile(CATALOGUE.models[0].file, Profile(2, False, 12.5))
    save_profile(CATALOGUE.models[1].file, Profile(2, False))
    assert measured_rates(CATALOGUE.models) == {CATALOGUE.models[0].name: 12.5}
