"""A process that is started oddly: its streams, terminal, limits, interpreter and clock."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

from trials.arranging import Arrange, Skip, There
from trials.stage import Stage

# Streams


@contextmanager
def _redirected(stage: Stage, *, how: str) -> Iterator[There]:
    yield There({"prefix": ["sh", "-c", f'exec "$@" {how}', "sh"]}, silent="2>" in how)


@contextmanager
def _unread(stage: Stage, *, how: str = "") -> Iterator[There]:
    """Standard output is a pipe that nobody reads any more."""
    read, write = os.pipe()
    os.close(read)
    try:
        yield There({"prefix": ["sh", "-c", f'exec "$@" {how}', "sh"], "out": write}, silent=True)
    finally:
        os.close(write)


@contextmanager
def _head(stage: Stage, *, before: str = "") -> Iterator[There]:
    script = f'{before}"$@" | head -1 > /dev/null; exit 0'
    yield There({"prefix": ["sh", "-c", script, "sh"]})


@contextmanager
def _gone_folder(stage: Stage) -> Iterator[There]:
    script = 'mkdir "$1" && cd "$1" && rmdir "$1" && shift && exec "$@"'
    yield There({"prefix": ["sh", "-c", script, "sh", str(stage.spare / "gone")]})


STREAMS: Final[Mapping[str, Arrange]] = {
    **{
        how: partial(_redirected, how=how)
        for how in (
            *("0<&-", "1>&-", "2>&-", "0<&- 1>&-", "0<&- 2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"),
            *("1>/dev/full", "2>/dev/full", "1>/dev/full 2>/dev/full", "1</dev/null"),
        )
    },
    "nobody reads": _unread,
    "nobody reads, nor complaints": partial(_unread, how="2>&1"),
    "| head -1": _head,
    "| head -1, SIGPIPE ignored": partial(_head, before='trap "" PIPE; '),
    "a deleted folder": _gone_folder,
}

# Terminals


@contextmanager
def _with(stage: Stage, variables: Mapping[str, str]) -> Iterator[There]:
    yield There({"environment": variables})


TERMINALS: Final[Mapping[str, Arrange]] = {
    " ".join(f"{name}={text}" for name, text in variables.items()): partial(
        _with, variables=variables
    )
    for variables in (
        {"TERM": "dumb"},
        {"TERM": "nothing-known"},
        {"TERM": ""},
        {"COLUMNS": "1"},
        {"COLUMNS": "0"},
        {"COLUMNS": "-5"},
        {"COLUMNS": "abc", "LINES": "abc"},
        {"COLUMNS": "99999999"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LANG": "xx_YY.none", "LC_ALL": "xx_YY.none"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "ascii:strict"},
        {"PYTHONIOENCODING": "cp1252:strict"},
        {"PYTHONIOENCODING": "utf-16"},
        {"PYTHONUNBUFFERED": "1"},
        {"TZ": "Nowhere/Here"},
        {"FORCE_COLOR": "1", "NO_COLOR": "1"},
    )
}

# Limits


@contextmanager
def _limited(stage: Stage, *, what: str, most: int, also: str = "") -> Iterator[There]:
    if sys.platform == "win32":
        raise Skip("Windows has no such limits")
    import resource

    kind = getattr(resource, f"RLIMIT_{what}", None)
    if kind is None:
        raise Skip("this system has no such limit")
    yield There({"before": lambda: resource.setrlimit(kind, (most, most))})


LIMITS: Final[Mapping[str, Arrange]] = {
    **{f"{count} files": partial(_limited, what="NOFILE", most=count) for count in (8, 16, 32, 64)},
    **{
        f"{size} MiB of addresses": partial(_limited, what="AS", most=size << 20)
        for size in (48, 64, 96, 128, 192, 256, 512)
    },
    **{
        f"files of {size} bytes": partial(_limited, what="FSIZE", most=size)
        for size in (0, 1000, 20_000, 100_000)
    },
    "a stack of 256 KiB": partial(_limited, what="STACK", most=256 << 10),
}

# Interpreters

_LIBRARIES: Final = (
    *("json", "sqlite3", "decimal", "difflib", "csv", "tempfile", "subprocess", "logging"),
    *("click", "numpy", "sympy", "llama_cpp", "pydantic", "rich", "lark", "pint", "gmpy2"),
    *("libzim", "lxml", "platformdirs", "httpx2", "ddgs", "psutil", "filelock", "jinja2"),
)
_MODULE: Final = "open({!r}, 'a').write(__name__ + ' ')\nraise SystemExit(99)\n"


@contextmanager
def _python(stage: Stage, *, options: Sequence[str]) -> Iterator[There]:
    yield There({"python": options})


@contextmanager
def _shadowed(stage: Stage) -> Iterator[There]:
    """Somebody works in a folder in which files are named as libraries are."""
    told = stage.spare / "was-run"
    for name in _LIBRARIES:
        (stage.root / "work" / f"{name}.py").write_text(_MODULE.format(str(told)))

    def check() -> str:
        return f"it ran {told.read_text()}of that folder" if told.exists() else ""

    yield There(check=check)


PYTHONS: Final[Mapping[str, Arrange]] = {
    **{
        " ".join(options): partial(_python, options=options)
        for options in (
            *(["-O"], ["-OO"], ["-B"], ["-s"], ["-X", "dev"], ["-W", "error"]),
            *(["-X", "utf8=0"], ["-X", "frozen_modules=off"]),
        )
    },
    "PYTHONSAFEPATH": partial(_with, variables={"PYTHONSAFEPATH": "1"}),
    "PYTHONOPTIMIZE": partial(_with, variables={"PYTHONOPTIMIZE": "2"}),
    "PYTHONWARNINGS": partial(_with, variables={"PYTHONWARNINGS": "error"}),
    "modules named as libraries": _shadowed,
}

# Clocks

_CLOCK: Final = """
import datetime, time
_now, _seconds = time.time, {seconds}
time.time = lambda: _now() + _seconds
_Real = datetime.datetime
class _Datetime(_Real):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)
    @classmethod
    def utcnow(cls):
        return cls.utcfromtimestamp(time.time())
    @classmethod
    def today(cls):
        return cls.now()
datetime.datetime = _Datetime
"""


@contextmanager
def _clock(stage: Stage, *, years: float) -> Iterator[There]:
    """The clock of this process alone, since the machine's is everybody's."""
    seconds = years * 365.25 * 24 * 3600
    (stage.spare / "sitecustomize.py").write_text(_CLOCK.format(seconds=seconds))
    path = os.pathsep.join([str(stage.spare), stage.environment()["PYTHONPATH"]])
    yield There({"environment": {"PYTHONPATH": path}})


CLOCKS: Final[Mapping[str, Arrange]] = {
    f"{years:+g} years": partial(_clock, years=years) for years in (-56, -20, -0.01, 0.01, 10, 70)
}
