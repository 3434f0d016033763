"""An expression from text to answer: its steps, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import lark
import sympy as sp

from local_react.errors import ToolError
from local_react.tools.calculator import (
    calls,
    complaints,
    numbers,
    operators,
    program,
    solving,
    steps,
    unit_words,
    units,
)
from local_react.tools.calculator.answer import told
from local_react.tools.calculator.money import has_currency
from local_react.tools.calculator.parsing import value_of
from local_react.tools.calculator.reader import Reader
from local_react.tools.calculator.rules import UNIT_OF_QUOTIENT
from local_react.tools.calculator.scanner import Piece, scan
from local_react.tools.calculator.text import tidy
from local_react.tools.calculator.values import Content, Equation, Value, kind

_MAX_NOTES: Final = 3


def load() -> None:
    """Make ready what every expression needs."""
    evaluate_here("2 * (3 + 4) - 1/2")


def evaluate_here(expression: str, loading: Callable[[], object] = lambda: None) -> str:
    """Return the value of an expression as text, worked out in this process and without
    limits on time and memory; `loading` is called before a library is imported.

    Raises ToolError as `local_react.tools.calculator.evaluate` does.
    """
    unit_words.REGISTRY.announce = loading
    written = program.read(expression)
    try:
        return written.spelled(_answer(written, of_money=has_currency(expression)))
    except MemoryError:
        raise
    except ToolError as error:
        raise ToolError(written.spelled(str(error))) from error
    except RecursionError as error:
        raise ToolError("too deep: the expression is nested too deeply; simplify it") from error
    except Exception as error:
        raise ToolError(
            f"it cannot be worked out ({type(error).__name__}): write it in simpler parts"
        ) from error


def _answer(written: program.Program, *, of_money: bool) -> str:
    return _Evaluation(tidy(written.text), written.notes, of_money=of_money).answer()


class _Evaluation:
    """The steps of one expression, and what their names stand for so far."""

    def __init__(self, text: str, notes: Sequence[str], *, of_money: bool) -> None:
        self._text = self._here = text
        self._of_money = of_money
        self._known: dict[str, Content] = {}
        self._formulas: dict[str, Content] = {}
        """What names stand for that depend on an unknown."""
        self._defined: dict[str, list[Piece]] = {}
        """The steps that said so."""
        self._counts: set[str] = set()
        """Names that are words for what is counted: apples = 5 apples."""
        self._equations: list[Equation] = []
        self._notes = [*notes]

    def answer(self) -> str:
        """Return the last step's value as text, with the notes of all."""
        all_steps = steps.split(scan(self._text))
        if len(all_steps) > 1:
            complaints.check_list(self._text)
        result = ""
        for step in all_steps:
            self._here = self._text[: steps.end(self._text, step)]
            try:
                result = self._step(step, last=step is all_steps[-1])
            except ToolError as error:
                if len(all_steps) == 1:
                    raise
                raise complaints.in_step(self._text, step, error) from error
        result = result or self._solved()
        notes = list(dict.fromkeys(self._notes))[:_MAX_NOTES]
        return f"{result} ({'; '.join(notes)})" if notes else result

    def _step(self, pieces: list[Piece], *, last: bool) -> str:
        """Take a step and return what is told of it: nothing where it is not the last, or
        where all equations together say what is to be told."""
        known = {**self._formulas, **self._known}
        pieces = steps.written_out(steps.recased(pieces, known), known)
        if pieces[0].text.casefold() == "solve" and pieces[1:] and pieces[1].text != "(":
            return self._solve_for(pieces[1:])
        if steps.is_definition(pieces):
            raise ToolError(
                f"{pieces[0].text} cannot be defined as a function: write the formula with the "
                "value in it"
            )
        pieces = steps.in_brackets(pieces, self._known)
        name = steps.assigned(pieces)
        if name and not self._is_unknown_in(pieces[2:]):
            told_name = self._assign(name, pieces, last=last)
            if told_name is not None:
                return told_name
        elif name and name not in {*self._known, *(piece.text for piece in pieces[2:])}:
            self._define(name, pieces)
            return ""
        value = self._value(pieces)
        content = value.content
        if isinstance(content, Equation) and content.sign == "=":
            self._equations.append(solving.checked(content))
            return ""
        if not last:
            raise complaints.nameless(self._text, pieces)
        if value.form == "tuple":
            raise ToolError("commas within parentheses: write 1234 for 1,234, or [1, 2] for a list")
        return self._final(content)

    def _solve_for(self, pieces: list[Piece]) -> str:
        """solve 2x + 6 = 20 for x"""
        names = []
        if len(pieces) > 2 and pieces[-2].text == "for":
            names = [sp.Symbol(pieces[-1].text)]
            pieces = pieces[:-2]
        parts = steps.apart(pieces)
        tokens = [self._symbolic(part) for part in parts]
        contents = [value_of(self._here, each, self._known).content for each in tokens]
        return solving.solve(contents, names).text

    def _assign(self, name: str, pieces: list[Piece], *, last: bool) -> str | None:
        """Take name = value and return what is told of it; None where it is an equation
        after all, as m = 2m - 6 is."""
        before = {*self._known}
        try:
            content = self._value(pieces[2:]).content
        except ToolError:
            if name in {piece.text for piece in pieces[2:]} - set(self._known):
                return None
            raise
        self._known[name] = content
        self._counts |= {piece.text for piece in pieces[2:]} & {name} - before
        return f"{name} = {told(content)}" if last and not self._equations else ""

    def _define(self, name: str, pieces: list[Piece]) -> None:
        """Take name = formula: an equation, and what the name is in later steps."""
        tokens = self._symbolic(pieces[2:])
        content = value_of(self._here, tokens, self._known).content
        if isinstance(content, tuple):
            self._known[name] = content
            return
        equation = Equation(sp.Symbol(name), "=", content)
        self._equations.append(solving.checked(equation))
        self._formulas[name] = content
        self._defined[name] = pieces

    def _is_unknown_in(self, pieces: Sequence[Piece]) -> bool:
        """Return True where the right side of name = ... has an unknown."""
        reader = self._reader(pieces)
        reader.read(symbolic=False)
        return bool(reader.unknown)

    def _final(self, content: Content) -> str:
        if isinstance(content, Equation):
            return solving.inequality([content]).text
        if (
            isinstance(content, tuple)
            and content
            and all(isinstance(each, Equation) for each in content)
        ):
            return solving.inequality(list(content)).text
        if kind(content) == "formula" and self._equations:
            return self._by_equations(content)
        if isinstance(content, units.Quantity) and self._of_money:
            # $15 * 8 hours is money: to call it hours would be wrong.
            self._notes = [note for note in self._notes if note != UNIT_OF_QUOTIENT]
            self._notes.append(f"the unit {units.shown(content)} is left out")
            return told(content.number)
        return told(content)

    def _by_equations(self, content: Content) -> str:
        """Return a formula's value where earlier steps are equations for its unknowns."""
        found = content.subs(self._values())
        equations = self._with_known()
        for name in sorted(content.free_symbols, key=str):
            options = solving.values_of(equations, name)
            if len(options) == 1 and not options[0].free_symbols:
                found = found.subs(name, options[0])
        if found.is_Symbol:
            raise ToolError(f"the steps do not say what {found} is: give it a value, as in a = 3")
        return told(found if found.free_symbols else numbers.settle(found))

    def _with_known(self) -> list[Equation]:
        """Return the equations with the values that later steps gave their unknowns."""
        values = self._values()
        return [
            Equation(each.left.subs(values), each.sign, each.right.subs(values))
            if _has_unknowns(each)
            else each
            for each in self._equations
        ]

    def _values(self) -> dict[Any, Content]:
        """Return the numbers that names have, as sympy substitutes them."""
        return {
            sp.Symbol(name): content
            for name, content in self._known.items()
            if kind(content) == "number"
        }

    def _solved(self) -> str:
        equations = self._with_known()
        if len(equations) == 1 and not _has_unknowns(equations[0]):
            return self._checked(equations[0])
        try:
            return solving.solve(equations, []).text
        except ToolError as error:
            raise self._without_value() or error from error

    def _without_value(self) -> ToolError | None:
        """Return the error that names the unknown of a step, and the step, where each of
        several steps is a name and its value."""
        if len(self._formulas) < len(self._equations) or not self._known:
            return None
        for name, formula in self._formulas.items():
            given = {*self._formulas, *self._known}
            unknown = sorted({str(symbol) for symbol in formula.free_symbols} - given)
            if unknown:
                said = complaints.without_value(unknown, given)
                return complaints.in_step(self._text, self._defined[name], said)
        return None

    def _checked(self, equation: Equation) -> str:
        """Return whether an equation without unknowns holds."""
        if operators.equal(equation.left, equation.right):
            return "true"
        return f"false: {told(equation.left)} is not {told(equation.right)}"

    def _value(self, pieces: Sequence[Piece]) -> Value:
        self._notes.extend(piece.note for piece in pieces if piece.note)
        value = value_of(self._here, self._tokens(pieces), self._names(pieces))
        self._notes.extend(value.notes)
        return value

    def _reader(self, pieces: Sequence[Piece]) -> Reader:
        return Reader(pieces, self._names(pieces), calls.is_function, self._counts)

    def _names(self, pieces: Sequence[Piece]) -> dict[str, Content]:
        """Return what names stand for in a step: in an equation those that depend on an
        unknown are unknowns too."""
        if any(piece.text == "=" for piece in pieces):
            return self._known
        return {**self._formulas, **self._known}

    def _tokens(self, pieces: Sequence[Piece]) -> list[lark.Token]:
        """Return a step's tokens: read with units and counted things, or else, where it is
        about an unknown, with letters as unknowns."""
        named = {piece.text.casefold() for piece in pieces if piece.kind == "name"}
        if named & calls.SYMBOLIC:
            return self._symbolic(pieces)
        reader = self._reader(pieces)
        tokens = reader.read(symbolic=False)
        kinds = {token.type for token in tokens}
        orders = any(
            token.type == "COMPARE" and token != "==" and token != "!=" for token in tokens
        )
        is_about = "EQ" in kinds or orders or bool(named & calls.BINDING) or self._equations
        if reader.unknown and is_about:
            return self._symbolic(pieces)
        if "EQ" in kinds and ("UNIT" in kinds or reader.dropped) and not _has_long_unit(tokens):
            return self._symbolic(pieces)  # 2m + 6 = 20, 2 apples + 3 = 11
        complaints.check_unknown(self._text, reader.unknown, self._known)
        complaints.check_dropped(reader.dropped, kinds)
        self._note_dropped(reader)
        return tokens

    def _symbolic(self, pieces: Sequence[Piece]) -> list[lark.Token]:
        reader = self._reader(pieces)
        tokens = reader.read(symbolic=True)
        complaints.check_unknown(
            self._text,
            [piece for piece in reader.unknown if not _can_be_unknown(piece.text)],
            self._known,
        )
        self._note_dropped(reader)
        return tokens

    def _note_dropped(self, reader: Reader) -> None:
        self._notes.extend(f"{read} is read as a product" for read in reader.multiplied)
        self._notes.extend(f"the word {word[:30]} is left out" for word in reader.dropped)


def _has_unknowns(equation: Equation) -> bool:
    return "formula" in (kind(equation.left), kind(equation.right))


def _has_long_unit(tokens: Sequence[lark.Token]) -> bool:
    return any(len(units.decoded(token)[1]) > 1 for token in tokens if token.type == "UNIT")


def _can_be_unknown(name: str) -> bool:
    return not name.startswith("_") and len(name) <= 30 and not calls.is_function(name)
