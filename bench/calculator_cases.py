"""The calculator's cases from public bug reports (cases/bugs.jsonl, group c) as checks.

What a case lists as pairs of in and out is read from the file; what it says in prose is
in the tables below.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from types import TracebackType
from typing import Any, Final

import psutil
from calculator_rows import Judged, Told, ask

_MB: Final = 2**20


@dataclass(frozen=True)
class Expected:
    """What is expected of an answer, in words and as a test of it."""

    words: str
    holds: Callable[[Told], bool]

    def __or__(self, other: Expected) -> Expected:
        return Expected(
            f"{self.words}, or {other.words}",
            lambda told: self.holds(told) or other.holds(told),
        )


def refusal(*words: str) -> Expected:
    """Expect a refusal, where words are given one that has one of them."""
    said = " or ".join(words)
    return Expected(
        f"a refusal that says {said}" if words else "a refusal",
        lambda told: told.is_refusal and (not words or any(word in told.text for word in words)),
    )


def value(number: str, tolerance: float | None = None) -> Expected:
    """Expect a number, within the relative tolerance. Without one: exactly the number, or
    to 9 digits where it has 10 or more and so is a rounded one itself."""
    wanted = Fraction(number)
    if tolerance is None:
        tolerance = 1e-9 if "." in number and _digits(number) >= 10 else 0.0
    margin = abs(wanted) * Fraction(str(tolerance))

    def holds(told: Told) -> bool:
        got = told.value
        return isinstance(got, Fraction) and abs(got - wanted) <= margin

    return Expected(number, holds)


def _digits(number: str) -> int:
    """Return how many significant digits are written."""
    return len(re.sub(r"e.*|\D", "", number).lstrip("0"))


def printed(text: str) -> Expected:
    """Expect the answer to be written so, whatever stands in parentheses behind it."""
    return Expected(f"{text!r} as written", lambda told: told.head == text)


def noted(expected: Expected) -> Expected:
    """Expect the same, with a remark in words behind it."""
    return Expected(
        f"{expected.words} and a note",
        lambda told: expected.holds(told) and any(" " in note.strip() for note in told.notes),
    )


def complex_number(form: str) -> Expected:
    """Expect an answer with i in it that matches the pattern."""
    return Expected("a complex number", lambda told: bool(re.match(form, told.head)))


UNDEFINED: Final = refusal("division by zero", "undefined")
TOO_LARGE: Final = refusal("too large")
TOO_LONG: Final = refusal("too long", "too deep")

PROSE: Final[Mapping[str, Mapping[str, Expected]]] = {
    "c01": {
        expression: refusal()
        for expression in (
            '__import__("pathlib").Path("{file}").touch()',
            "().__class__.__mro__[1].__subclasses__()",
            "pi.func.__init__.__globals__",
            "(lambda: 1)()",
            "[i for i in (1,2)]",
            'open("/etc/hostname").read()',
            'f"{1+1}"',
            '"ab"*10**9',
            "[0]*10**9",
            'Symbol("x").__class__',
            'exec("1")',
            "x:=5",
            "1;2",
        )
    },
    "c02": {
        "9**9**9": TOO_LARGE,
        "10^10^10": TOO_LARGE,
        "(((7**60)**60)**60)**60": TOO_LARGE,
        "factorial(10**8)": TOO_LARGE,
        "5000000!": TOO_LARGE,
        "binomial(10**8, 5*10**7)": TOO_LARGE,
        "2**(2**40)": TOO_LARGE,
        "*".join(["(2**4000)*(2**4000)*(2**4000)"] * 500): TOO_LARGE,
        "0.5**2000": value("8.7e-603", 0.01) | refusal("too small", "underflow"),
    },
    "c04": {"1/2pi": noted(value("1.570796326795")) | noted(value("0.159154943092")) | refusal()},
    "c06": {"100 + 10%": noted(value("110")) | refusal()},
    "c10": {
        "S+2": refusal("'S'"),
        "beta+1": refusal("'beta'"),
        "x*2": refusal("'x'"),
        "i^2": refusal("'i'"),
        "pi": value("3.141592653589793"),
    },
    "c11": {
        "5/0": UNDEFINED,
        "0/0": UNDEFINED,
        "1/(2-2)": UNDEFINED,
        "log(0)": UNDEFINED,
        "tan(pi/2)": UNDEFINED,
        "0^-1": UNDEFINED,
        "sqrt(-4)": refusal() | complex_number("2i$"),
        "(-8)^(1/3)": refusal() | complex_number(r"1 ?\+ ?(?:sqrt\(3\)|1\.732\d*)[ *]?i$"),
    },
    "c14": {
        "(" * 5000 + "1" + ")" * 5000: TOO_LONG,
        "1+" * 50_000 + "1": TOO_LONG,
        "-" * 3000 + "1": TOO_LONG,
        "2**" * 1000 + "1": TOO_LONG,
        "()" * 10**6: TOO_LONG,
        "7" * 200_000: TOO_LONG,
        "(" * 20 + "1" + ")" * 20: value("1"),
    },
}
"""What each case asks of which expression, beside its own pairs of in and out."""

_IN_PROSE: Final = {("c02", "0.5**2000"), ("c14", "('*20)1(')*20)")}
"""Pairs whose out is prose, or whose in is no expression: they stand above."""


@dataclass(frozen=True)
class Limits:
    """The most seconds and bytes of growth, of one expression or of the whole case."""

    each_seconds: float | None = None
    all_seconds: float | None = None
    each_bytes: int | None = None
    all_bytes: int | None = None


LIMITS: Final[Mapping[str, Limits]] = {
    "c01": Limits(all_seconds=1, all_bytes=50 * _MB),
    "c02": Limits(each_seconds=1, each_bytes=100 * _MB),
    "c14": Limits(each_seconds=1),
}


def expectations(case: Mapping[str, Any]) -> dict[str, Expected]:
    """Return what is expected of each expression of a case."""
    exactly = "Printed exactly" in case["expected"]
    pairs = {
        pair["in"]: _listed(pair["out"], exactly)
        for pair in case.get("cases", [])
        if (case["id"], pair["in"]) not in _IN_PROSE
    }
    return pairs | dict(PROSE.get(case["id"], {}))


def _listed(out: str, exactly: bool) -> Expected:
    """Return what an out says: 12 | 13 or error | error naming 'age' | true | 0.5 (note)."""
    found = [_alternative(part.strip(), exactly) for part in re.split(r"\bor\b", out)]
    expected, *others = found
    for other in others:
        expected = expected | other
    return expected


def _alternative(text: str, exactly: bool) -> Expected:
    if re.match(r"(?:an? )?(?:\w+ )?(?:error|refus|message)", text):
        named = re.search(r"naming ('\w+')", text)
        return refusal(named[1]) if named else refusal()
    plain = re.sub(r"\s*\(.*\)$", "", text)
    number = re.match(r"(about |[~≈] ?)?(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?= with\b|$)", plain)
    if not number or (exactly and "digits" not in text):
        return printed(plain)
    rounded = number[1] or "digits" in text
    wanted = value(number[2], 10.0 ** (1 - _digits(number[2])) if rounded else None)
    return noted(wanted) if "with" in text else wanted


class Watch:
    """How long a block took, and how far memory grew in it at the worst: that of this
    process and of its children, so of the worker too."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.growth = 0
        self._done = Event()
        self._sampler = Thread(target=self._sample, daemon=True)

    def __enter__(self) -> Watch:
        self._processes = _processes()
        self._before = _memory(self._processes)
        self._sampler.start()
        self._start = perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.seconds = perf_counter() - self._start
        self._done.set()
        self._sampler.join()
        # A worker may have been replaced meanwhile.
        self._note(_processes())

    def _sample(self) -> None:
        while not self._done.wait(0.002):
            self._note(self._processes)

    def _note(self, processes: Sequence[psutil.Process]) -> None:
        self.growth = max(self.growth, _memory(processes) - self._before)


def _processes() -> list[psutil.Process]:
    """Return this process and its children, found by a look at all that run: it is slow."""
    me = psutil.Process()
    return [me, *me.children(recursive=True)]


def _memory(processes: Sequence[psutil.Process]) -> int:
    """Return the resident bytes of the processes."""
    total = 0
    for process in processes:
        with suppress(psutil.Error):  # a worker that has been ended
            total += process.memory_info().rss
    return total


@dataclass
class _Run:
    """A case in the making."""

    case: str
    limits: Limits
    found: list[Judged] = field(default_factory=list)

    def add(self, expression: str, expected: str, told: str, good: bool, refused: bool) -> None:
        outcome: Any = "wrong" if not good else "refused" if refused else "right"
        shown = [text if len(text) <= 90 else f"{text[:87]}..." for text in (expression, told)]
        self.found.append(
            Judged("cases c", f"{self.case}: {shown[0]}", expected, shown[1], outcome)
        )

    def limit(self, what: str, got: float, most: float | None, unit: str) -> None:
        """Judge what was measured, and print it, where the case sets a limit."""
        if most is not None:
            print(f"{self.case}: {what} {got:.3g} {unit} (below {most:g})")
            self.add(what, f"below {most:g} {unit}", f"{got:.3g} {unit}", got < most, False)


def judge_case(case: Mapping[str, Any], folder: Path) -> list[Judged]:
    """Return a verdict for each expression of a case, and for each limit it sets.

    The folder is an empty one, for what an expression may try to write.
    """
    run = _Run(case["id"], LIMITS.get(case["id"], Limits()))
    expected = expectations(case)
    if not expected:
        run.add("no check", case["expected"], "this bench does not know how", False, False)
        return run.found
    modules = set(sys.modules)
    with Watch() as watch:
        seconds, growth = zip(*_ask_all(run, expected, folder), strict=True)
    run.limit("slowest", max(seconds), run.limits.each_seconds, "s")
    run.limit("all together", watch.seconds, run.limits.all_seconds, "s")
    run.limit("largest growth", max(growth) / _MB, _in_mb(run.limits.each_bytes), "MB")
    run.limit("growth", watch.growth / _MB, _in_mb(run.limits.all_bytes), "MB")
    if run.case == "c01":
        left = sorted({path.name for path in folder.iterdir()} | (set(sys.modules) - modules))
        run.add("files and modules", "nothing new", ", ".join(left) or "none", not left, False)
    return run.found


def _ask_all(
    run: _Run, expected: Mapping[str, Expected], folder: Path
) -> Iterator[tuple[float, int]]:
    for expression, wanted in expected.items():
        asked = expression.replace("{file}", (folder / "touched").as_posix())
        with Watch() as watch:
            told = ask(asked)
        run.add(expression, wanted.words, told.text, wanted.holds(told), told.is_refusal)
        yield watch.seconds, watch.growth


def _in_mb(size: int | None) -> float | None:
    return None if size is None else size / _MB
