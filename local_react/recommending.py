"""Which model of the catalogue to take on this machine: what fits its memory, best first.

How good a model is the catalogue says: its order is that of size, and its roles name the
one to take. How fast one is `local-react bench` has measured, or has measured of another:
writing a token reads all the weights once, so the rate goes with one over the size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from local_react.catalog import CatalogModel, Catalogue
from local_react.profiles import load_profile


@dataclass(frozen=True, slots=True)
class Rate:
    """How fast a model writes on this machine."""

    tokens_per_second: float
    estimated_from: str | None = None
    """The model that was measured, where this one was not."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model, the bytes of memory that it takes with 8192 tokens of context, and its rate,
    None where nothing was measured."""

    model: CatalogModel
    needed: int
    rate: Rate | None


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What fits into so many bytes of memory."""

    available: int
    fitting: tuple[Candidate, ...]
    """The best first."""
    take: Candidate | None
    """The one to take; None where none fits."""
    smallest: Candidate
    """The one that needs the least memory."""

    @property
    def short_by(self) -> int:
        """The bytes that the smallest model lacks, 0 where it fits."""
        return max(0, self.smallest.needed - self.available)


def recommend(catalogue: Catalogue, available: int, rates: Mapping[str, float]) -> Recommendation:
    """Return what fits into the `available` bytes. `rates` are measured tokens a second, by
    the models' names.

    To be taken is the model that the catalogue recommends where memory allows, else its
    default, else the largest that fits.
    """
    every = [
        Candidate(model, _needed(model), _rate(model, catalogue, rates))
        for model in reversed(catalogue.models)
    ]
    fitting = tuple(candidate for candidate in every if candidate.needed <= available)
    return Recommendation(
        available=available,
        fitting=fitting,
        take=_taken(fitting, (catalogue.recommended, catalogue.default)),
        smallest=min(every, key=lambda candidate: candidate.needed),
    )


def measured_rates(models: Iterable[CatalogModel]) -> dict[str, float]:
    """Return the tokens a second that the models wrote when they were measured on this
    machine, by name; those that were not are left out."""
    rates = {model.name: load_profile(model.file).write_rate for model in models}
    return {name: rate for name, rate in rates.items() if rate}


def _needed(model: CatalogModel) -> int:
    return round(model.memory * 2**30)


def _taken(fitting: tuple[Candidate, ...], roles: tuple[str, ...]) -> Candidate | None:
    by_name = {candidate.model.name: candidate for candidate in fitting}
    chosen = [by_name[role] for role in roles if role in by_name]
    return next(iter([*chosen, *fitting]), None)


def _rate(model: CatalogModel, catalogue: Catalogue, rates: Mapping[str, float]) -> Rate | None:
    """Return the measured rate, else one by that of the model nearest in size."""
    if model.name in rates:
        return Rate(rates[model.name])
    measured = [other for other in catalogue.models if other.name in rates]
    if not measured:
        return None
    near = min(
        measured, key=lambda other: max(other.bytes, model.bytes) / min(other.bytes, model.bytes)
    )
    return Rate(rates[near.name] * near.bytes / model.bytes, near.name)
