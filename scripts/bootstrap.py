"""Make .venv and install local_react into it. Standard library only.

The scripts beside this one use it; it runs nothing when it is imported. Running it
again installs only what has changed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import venv
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOG = VENV / "install.log"
LOCK = ROOT / ".ci" / "requirements-dev.txt"
_LOCKED = ((3, 10), (3, 14))
"""The Pythons that the lock file is for."""
_BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
_COMPILERS = ("cc", "gcc", "clang", "cl", "c++", "g++", "clang++")
_NO_COMPILER = (
    "no C/C++ compiler was found, and llama-cpp-python is compiled by pip. Install one: "
    "Debian/Ubuntu `sudo apt install build-essential`, Fedora `sudo dnf install gcc-c++`, "
    "macOS `xcode-select --install`, Windows the Build Tools for Visual Studio with C++; "
    "or install a prebuilt wheel into .venv first: README.md, 'Without a compiler'"
)


def python() -> str:
    """Return the path of the interpreter in .venv."""
    return str(_BIN / ("python.exe" if os.name == "nt" else "python"))


def install(extra: str = "") -> None:
    """Make .venv if it is missing and install the package, with an extra such as
    "test", if it is not there already. Leaves the process with exit code 1 and one
    line where that cannot be done."""
    if sys.version_info < (3, 10):  # noqa: UP036 - this file is what finds it out
        fail(f"Python 3.10 or newer is needed, and this is {sys.version.split()[0]}")
    _make_venv()
    stamp = VENV / (f"installed-{extra}" if extra else "installed")
    if stamp.is_file() and stamp.read_text() == _fingerprint(extra):
        return
    _check_compiler()
    _say(
        "installing local_react; the first time pip compiles llama-cpp-python, ~5 minutes on 2 CPUs"
    )
    started = time.monotonic()
    LOG.unlink(missing_ok=True)
    for arguments in _wanted(extra):
        _pip_install(arguments)
    _say(f"installed in {time.monotonic() - started:.0f} s")
    stamp.write_text(_fingerprint(extra))
    (VENV / "installed").write_text(_fingerprint())  # an extra brings the package itself


def become(arguments: list[str]) -> NoReturn:
    """Run .venv's interpreter with the arguments and leave with its exit code."""
    process = subprocess.Popen([python(), *arguments])
    while True:
        try:
            sys.exit(process.wait())
        except KeyboardInterrupt:
            # The terminal sends Ctrl-C to both: the child decides how it ends.
            continue


def fail(message: str) -> NoReturn:
    """Print one line and leave with exit code 1."""
    print(f"local-react: {message}", file=sys.stderr)
    sys.exit(1)


def _make_venv() -> None:
    if Path(python()).is_file() and _answers(["-m", "pip", "--version"]):
        return
    _say(f"making a virtual environment in {VENV.name}")
    try:
        venv.create(VENV, clear=True, with_pip=True, symlinks=os.name != "nt")
    except (OSError, subprocess.CalledProcessError) as error:
        shutil.rmtree(VENV, ignore_errors=True)
        fail(
            f"no virtual environment can be made ({error}): on Debian and Ubuntu "
            "`sudo apt install python3-venv` brings what is missing"
        )


def _wanted(extra: str) -> list[list[str]]:
    """Return what pip is to install, call by call. With an extra, which is for development,
    all is what the lock file says, to the byte."""
    if not extra:
        return [["-e", "."]]
    if not _LOCKED[0] <= sys.version_info[:2] <= _LOCKED[1]:
        _say(
            f"NOT LOCKED: {LOCK.name} is for Python {_named(_LOCKED[0])} to {_named(_LOCKED[1])},"
            f" and this is {_named(sys.version_info[:2])}: the newest of everything is installed"
        )
        return [["-e", f".[{extra}]"]]
    return [
        ["--require-hashes", "-r", str(LOCK)],
        ["--no-deps", "--no-build-isolation", "-e", "."],
    ]


def _named(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _fingerprint(extra: str = "") -> str:
    """Return what decides whether the installation is up to date."""
    files = [ROOT / "pyproject.toml", *([LOCK] if extra else [])]
    told = b"".join(file.read_bytes() for file in files)
    return hashlib.sha256(told + sys.version.encode()).hexdigest()


def _check_compiler() -> None:
    if _answers(["-c", "import llama_cpp"]) or os.environ.get("CC"):
        return
    if any(shutil.which(name) for name in _COMPILERS) or os.name == "nt":
        return  # on Windows CMake finds Visual Studio, which is on no PATH
    fail(_NO_COMPILER)


def _answers(arguments: list[str]) -> bool:
    command = [python(), *arguments]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:  # what is there cannot be run
        return False


def _pip_install(arguments: list[str]) -> None:
    # Verbose, because that is how the compiler's own count reaches us.
    command = [python(), "-m", "pip", "install", "-v", "--progress-bar", "off", *arguments]
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    with (
        LOG.open("a", encoding="utf-8") as log,
        subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        ) as process,
    ):
        assert process.stdout is not None
        progress = _Progress(time.monotonic())
        try:
            for line in process.stdout:
                log.write(line)
                progress.read(line)
        except KeyboardInterrupt:
            process.terminate()
            _say("interrupted: run it again to go on")
            sys.exit(130)
        finally:
            progress.close()
    if process.returncode != 0:
        fail(f"the installation failed: {_last_error()}; the whole of it is in {LOG}")


def _last_error() -> str:
    """Return the line of pip's log that says most about what went wrong."""
    lines = [line.strip() for line in LOG.read_text("utf-8", "replace").splitlines()]
    for pattern in (r"CMake Error|error: .*compiler|fatal error", r"^ERROR: ", r"error"):
        for line in lines:
            if re.search(pattern, line):
                return line[:300]
    return "pip gave no reason"


class _Progress:
    """Shows what pip does: a line with a clock, written over on a terminal, else a line
    now and then."""

    def __init__(self, started: float) -> None:
        self._started = started
        self._terminal = sys.stderr.isatty()
        self._text = "asking pip"
        self._width = 0
        self._ended = threading.Event()
        if self._terminal:
            threading.Thread(target=self._tick, daemon=True).start()

    def read(self, line: str) -> None:
        """Take in a line of pip's output."""
        compiled = re.match(r"\s*\[(\d+)/(\d+)\]", line)
        if compiled and int(compiled[2]) > 20:
            done, total = int(compiled[1]), int(compiled[2])
            tenth = done * 10 // total != (done - 1) * 10 // total
            self._show(f"compiling llama-cpp-python: {done} of {total} steps", said=tenth)
        elif found := re.match(r"Collecting ([\w.-]+)|\s*(Building wheel for \S+)", line):
            said = found[2] is not None
            self._show(f"collecting {found[1]}" if found[1] else found[2].lower(), said=said)
        elif line.startswith("Installing collected"):
            self._show("installing the packages", said=True)

    def close(self) -> None:
        """End the line that was written over."""
        self._ended.set()
        if self._terminal:
            print(file=sys.stderr)

    def _show(self, text: str, *, said: bool) -> None:
        self._text = text
        if self._terminal:
            self._write()
        elif said:
            print(f"  {text} ({self._clock()})", file=sys.stderr, flush=True)

    def _tick(self) -> None:
        while not self._ended.wait(1):
            self._write()

    def _write(self) -> None:
        line = f"  {self._text} ({self._clock()})"
        print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = len(line)

    def _clock(self) -> str:
        elapsed = int(time.monotonic() - self._started)
        return f"{elapsed // 60}:{elapsed % 60:02d}"


def _say(text: str) -> None:
    print(f"local-react: {text}", file=sys.stderr, flush=True)
