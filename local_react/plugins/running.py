"""A Python file of the user's, run as a module of its own."""

from __future__ import annotations

import builtins
import inspect
import sys
import traceback
from contextlib import redirect_stdout
from hashlib import sha256
from importlib.abc import ExecutionLoader
from importlib.util import decode_source, module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

from local_react.errors import UsageError
from local_react.tools.base import Tool

_LONGEST = 200
"""Characters of another's complaint that are told."""


def run_file(path: Path) -> ModuleType:
    """Return the module that the file makes, under a name that no other module has. Nothing
    is written beside it, and what it prints goes to standard error.

    Raises what the file raises, SystemExit too.
    """
    name = f"local_react_functions_{sha256(str(path).encode(errors='replace')).hexdigest()[:16]}"
    spec = spec_from_loader(name, _Source(path))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    # Standard output belongs to the answer, while its functions are called too, from any
    # thread: so it gets a `print` of its own, rather than us another standard output.
    vars(module)["print"] = _print_aside
    sys.modules[name] = module  # where dataclasses and pydantic look for what hints name
    try:
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


class _Source(ExecutionLoader):
    """Loads a file from its source alone: Python's own would keep bytecode beside it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._source = decode_source(path.read_bytes())  # once: a pipe has nothing left then

    def get_filename(self, fullname: str) -> str:
        """Return the file."""
        return _named(self._path)

    def get_source(self, fullname: str) -> str:
        """Return the text of the file, in whatever encoding it declares."""
        return self._source


def _print_aside(*values: object, **options: Any) -> None:
    """Print as Python does, but to standard error where no file is named."""
    if options.get("file") is None:
        options["file"] = sys.stderr
    builtins.print(*values, **options)  # noqa: T201


def tools_defined_in(module: ModuleType) -> list[Any]:
    """Return the Tools and public functions that are defined in the module itself, at its
    top level, in their order: what it imports is no tool of its own."""
    found = [
        value
        for name, value in vars(module).items()
        if not name.startswith("_") and _is_own(value, module.__name__)
    ]
    return list({id(value): value for value in found}.values())


def _is_own(value: object, module: str) -> bool:
    if isinstance(value, Tool):
        return getattr(value.function, "__module__", None) == module
    # What a decorator made of a function counts, so that it is told where it makes no tool;
    # a class, a lambda and what was made inside of another function don't.
    return (
        callable(value)
        and not inspect.isclass(value)
        and getattr(value, "__module__", None) == module
        and str(getattr(value, "__qualname__", "")).isidentifier()
    )


def line_of(value: object) -> int | None:
    """Return the line where a Tool or function is defined."""
    function = value.function if isinstance(value, Tool) else value
    code = getattr(inspect.unwrap(function) if callable(function) else None, "__code__", None)
    return getattr(code, "co_firstlineno", None)


def line_at_fault(error: BaseException, path: Path) -> int | None:
    """Return the line of the file in which the error arose."""
    if isinstance(error, SyntaxError) and error.filename == _named(path):
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    return next((f.lineno for f in reversed(frames) if f.filename == _named(path)), None)


def _named(path: Path) -> str:
    """Return what Python knows a file by; a pipe by what it takes for no file: whoever opened
    it again, to show a line of it, would wait for ever."""
    return str(path) if path.is_file() else f"<{path}>"


def reason(error: BaseException) -> str:
    """Return in one line what is at fault."""
    if isinstance(error, UsageError):
        told = str(error)
    elif isinstance(error, SystemExit):
        told = "it ends the program (SystemExit)"
    elif isinstance(error, OSError) and error.strerror:
        told = f"it cannot be read: {error.strerror}"
    else:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        told = f"{type(error).__name__}: {message}"
    line = " ".join(told.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
