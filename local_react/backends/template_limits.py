"""Renders a chat template, which is a program of somebody else's, within limits.

Jinja's own sandbox keeps a template from Python's insides, but not from going on for ever or
from filling the memory. Here each value is of a bounded size, each operation comes to a bounded
amount of work, what is written to a bounded length, and the whole to a bounded time of the
processor: what repeats (a loop, a call) or makes something (an operator, a filter, a list)
asks first. An honest template takes some thousandths of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from datetime import datetime
from functools import wraps
from threading import local
from time import thread_time
from typing import Any, Final

from jinja2 import nodes
from jinja2.compiler import CodeGenerator
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace, pass_context
from jinja2.visitor import NodeTransformer

_LONGEST: Final = 1 << 17
"""Characters of a template; the longest in use have a quarter of it."""
_LARGEST: Final = 1 << 17
"""Characters and items of one value, with all that is in it."""
_MOST_WORK: Final = 10_000_000
"""What one operation comes to: the product of the two largest things given to it, as of a text
and of what each of its characters is replaced by, or a text and the width it is to have."""
_MOST_WRITTEN: Final = 1 << 20
"""Characters written, also of what is kept in a variable."""
_MOST_BITS: Final = 4096
"""Of a whole number."""
_SECONDS: Final = 1.0
"""Of the processor's time."""

_WIDE = re.compile(r"%[^a-zA-Z%]*(?:\d{4}|\*)|\{[^{}]*(?:\d{4}|\{)")
"""A format whose result may be far longer than what is put into it."""
_EACH, _JOINED, _MADE = "local_react_each", "local_react_joined", "local_react_made"
"""The filters behind a loop, the operator ~, and a list or dictionary."""


class Limited(ImmutableSandboxedEnvironment):
    """An environment in which a template is rendered within the limits."""

    intercepted_binops = frozenset(ImmutableSandboxedEnvironment.default_binop_table)

    def __init__(self, seconds: float = _SECONDS) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            optimized=False,  # nothing is worked out before it is rendered
            finalize=self._written,
            extensions=[_Generation, loopcontrols],
        )
        self.code_generator_class = _Asking
        self._seconds = seconds
        self._spent = local()
        own = {"tojson": _as_json, _JOINED: _joined, _MADE: _as_it_is}
        filters = {**self.filters, **own}
        self.filters |= {name: self._asking(filter_) for name, filter_ in filters.items()}
        self.filters[_EACH] = self._each
        del self.globals["lipsum"]
        self.globals |= {"namespace": _Notes, "raise_exception": _refuse, "strftime_now": _now}

    def compiled(self, source: str) -> Callable[..., str]:
        """Return what renders a template with the values that it is given. Raises ValueError
        at a limit, and whatever the template comes to; so does what is returned."""
        if len(source) > _LONGEST:
            raise ValueError(f"it has {len(source):,} characters")
        template = self.from_string(source)

        def rendered(**values: Any) -> str:
            self._spent.until, self._spent.written = thread_time() + self._seconds, 0
            return template.render(**values)

        return rendered

    def call(self, context: Context, obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Call what a template calls."""
        method = getattr(obj, "__wrapped__", obj)
        owner = getattr(method, "__self__", None)
        if isinstance(owner, str) and method.__name__.startswith("format"):
            _check_format(owner)
        given = [self._taken(value) for value in args]
        named = {name: self._taken(value) for name, value in kwargs.items()}
        _check_work(owner, *given, *named.values())
        return self._taken(super().call(context, obj, *given, **named))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Reckon what a template reckons."""
        given = (self._taken(left), self._taken(right))
        if operator == "**":
            _check_power(left, right)
        elif operator == "*" and not (isinstance(left, int) and isinstance(right, int)):
            _check_work(left, right)
        elif operator == "%" and isinstance(left, str):
            _check_format(left)
        return self._taken(super().call_binop(context, operator, *given))

    def _asking(self, filter_: Callable[..., Any]) -> Callable[..., Any]:
        """Return a filter that does the same within the limits."""
        inner = 1 if hasattr(filter_, "jinja_pass_arg") else 0

        @wraps(filter_)
        def asking(*args: Any, **kwargs: Any) -> Any:
            given = [self._taken(value) for value in args[inner:]]
            if filter_.__name__ == "do_format":
                _check_format(str(given[0]))
            _check_work(*given, *kwargs.values())
            return self._taken(filter_(*args[:inner], *given, **kwargs))

        return asking

    def _each(self, values: Iterable[Any]) -> Iterator[Any]:
        for number, value in enumerate(values):
            self._ask()
            if number > _LARGEST:
                raise ValueError("a list of it is too long")
            yield value

    def _taken(self, value: Any) -> Any:
        """Return a value that was checked; what would only be made later is made."""
        self._ask()
        if isinstance(value, Iterator):
            value = list(self._each(value))
        _check_size(value, _LARGEST)
        return value

    @pass_context
    def _written(self, context: Context, value: Any) -> str:
        text = str(self._taken(value))
        self._spent.written += len(text)
        if self._spent.written > _MOST_WRITTEN:
            raise ValueError("it writes without an end")
        return text

    def _ask(self) -> None:
        if thread_time() > self._spent.until:
            raise ValueError("it takes too long")


class _Asking(CodeGenerator):
    """Has what repeats or makes something ask first."""

    def visit_Template(self, node: nodes.Template, frame: Any = None) -> None:  # noqa: N802
        super().visit_Template(_Asked().visit(node), frame)


class _Asked(NodeTransformer):
    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802
        if node.recursive:
            raise ValueError("it has a recursive loop")
        found = self.generic_visit(node)
        node.iter = _filtered(node.iter, _EACH)
        return found

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), _JOINED)

    def visit_List(self, node: nodes.List) -> nodes.Node:  # noqa: N802
        return _filtered(self.generic_visit(node), _MADE)

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:  # noqa: N802
        return _filtered(self.generic_visit(node), _MADE)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:  # noqa: N802
        found = self.generic_visit(node)
        return _filtered(found, _MADE) if node.ctx == "load" else found

    def visit_TemplateData(self, node: nodes.TemplateData) -> nodes.Node:  # noqa: N802
        return nodes.Const(node.data, lineno=node.lineno)  # which counts as written


def _filtered(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


class _Generation(Extension):
    """The tag around what a model writes, as Hugging Face's templates have it: it does
    nothing here."""

    tags = {"generation"}  # noqa: RUF012 - as Jinja declares it

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _Notes(Namespace):
    """A namespace that tells nothing of what it holds, which may hold it twice, and so on."""

    def __repr__(self) -> str:
        return "<namespace>"


def _check_size(value: Any, most: int) -> int:
    """Return how large a value is. Raises ValueError where that is more than the most."""
    parts: Iterable[Any] = ()
    if isinstance(value, (str, bytes, range)):
        size = len(value)
    elif isinstance(value, int):
        size = 1 if value.bit_length() <= _MOST_BITS else most + 1
    elif isinstance(value, Mapping):
        size, parts = len(value), [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset, KeysView, ValuesView, ItemsView)):
        size, parts = len(value), value
    else:
        size = 1
    if size <= most:
        for part in parts:
            size += _check_size(part, most - size)
    if size > most:
        raise ValueError("a value of it is too large")
    return size


def _check_work(*given: Any) -> None:
    sizes = [abs(v) if isinstance(v, int) else _check_size(v, _LARGEST) for v in given]
    *_, second, largest = 1, 1, *sorted(sizes)
    if second * largest > _MOST_WORK:
        raise ValueError("a value of it is too large")


def _check_power(left: Any, right: Any) -> None:
    numbers = isinstance(left, int) and isinstance(right, int)
    if numbers and left.bit_length() * abs(right) > _MOST_BITS:
        raise ValueError("a value of it is too large")


def _check_format(form: str) -> None:
    if _WIDE.search(form):
        raise ValueError("a format of it is too wide")


def _joined(parts: list[Any]) -> str:
    return "".join(map(str, parts))


def _as_it_is(value: Any) -> Any:
    return value


def _as_json(value: Any, ensure_ascii: bool = False, **options: Any) -> str:
    """Return JSON as Hugging Face's filter gives it, not escaped for a page."""
    return json.dumps(value, ensure_ascii=ensure_ascii, **options)


def _refuse(message: object) -> None:
    raise ValueError(message)


def _now(form: str) -> str:
    return datetime.now().strftime(form)
