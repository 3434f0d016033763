"""Proof that nothing leaves where nothing should: no socket of the internet is opened by an
import, by a run without the network, or by a command that needs none."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import local_react
from local_react.catalog import resolve
from local_react.errors import ModelError

PACKAGE = Path(local_react.__file__).parent
ROOT = PACKAGE.parent
MODEL = "smollm2-135m"

_WATCH = """
import json, sys
seen = []
def hook(event, values):
    if event.startswith("socket.") or event in ("urllib.Request", "http.client.connect"):
        frame, where = sys._getframe(), []
        while frame:
            where.append(frame.f_globals.get("__name__", ""))
            frame = frame.f_back
        shown = [value if isinstance(value, (int, str, tuple)) else "" for value in values]
        seen.append([event, shown, where])
sys.addaudithook(hook)
"""


def watched(code: str, *arguments: str) -> list[list[Any]]:
    """Return the socket events in a process of its own that runs the code."""
    command = [sys.executable, "-c", f"{_WATCH}\n{code}\nprint(json.dumps(seen))", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    events: list[list[Any]] = json.loads(done.stdout.splitlines()[-1])
    return events


def test_the_watch_sees_a_socket() -> None:
    look = "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.close()"
    assert [event for event, *_ in watched(look)] == ["socket.__new__", "socket.bind"]
    lookup = "import socket; socket.getaddrinfo('127.0.0.1', 80)"
    assert [event for event, *_ in watched(lookup)] == ["socket.getaddrinfo"]


_IMPORT = """
import importlib
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:  # an extra that is not installed, or not a module
        assert not name.startswith("local_react"), error
"""


def our_modules() -> list[str]:
    found = pkgutil.walk_packages([str(PACKAGE)], "local_react.")
    return [module.name for module in found if not module.name.endswith("__main__")]


def used_modules() -> list[str]:
    """Return all that our modules import, at their top or when it is needed."""
    names: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module}
    return sorted(name for name in names if not name.startswith("local_react"))


def dependencies() -> list[str]:
    """Return the modules of all that pyproject.toml requires, as far as it is here."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    required = [*project["dependencies"], *project["optional-dependencies"].get("zim", [])]
    wanted = {_plain(re.split(r"[^\w.-]", line)[0]) for line in required}
    modules = importlib.metadata.packages_distributions()
    return sorted(
        module
        for module, homes in modules.items()
        if module.isidentifier() and wanted & {_plain(home) for home in homes}
    )


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).casefold()


def test_importing_what_is_ours_opens_nothing() -> None:
    names = our_modules()
    assert {"local_react.agent", "local_react.network.door", "local_react.cli.main"} <= set(names)
    assert watched(_IMPORT, *names) == []


def test_importing_what_is_required_opens_nothing() -> None:
    names = [*dependencies(), *used_modules()]
    assert {"llama_cpp", "ddgs", "httpx2", "huggingface_hub", "pydantic", "sympy"} <= set(names)
    events = watched(_IMPORT, *names)
    assert [event for event in events if not _asks_for_ipv6(event)] == []


def _asks_for_ipv6(event: list[Any]) -> bool:
    """Return whether it is urllib3 (trafilatura needs it), which binds a socket of this
    machine's own ::1 when it is imported, to see whether there is IPv6, and sends nothing."""
    what, values, where = event
    if "urllib3.util.connection" not in where:
        return False
    return what == "socket.__new__" or (what == "socket.bind" and ["::1", 0] in values)


_RUN = """
from local_react import Agent, Network, ScriptedModel, builtin_tools
tools = builtin_tools(Network("deny"))
assert not [tool.name for tool in tools if tool.network], tools
def step(name, **arguments):
    return f"Thought: t\\nAction: {name} {json.dumps(arguments)}"
replies = [
    step("calculator", expression="15% of 80"),
    step("current_time", place="Oslo"),
    step("Finish", answer="12"),
]
run = Agent(ScriptedModel(replies), tools).run("What is it, and what time is it in Oslo?")
"""


def test_a_run_with_the_door_shut_opens_nothing() -> None:
    check = """
assert run.answer == "12" and run.finished, run
assert "12" in run.steps[0].observation, run
assert "Oslo" in run.steps[1].observation, run
"""
    assert watched(_RUN + check) == []


def test_a_shut_door_opens_nothing_whatever_is_asked_of_it() -> None:
    tries = """
from local_react.errors import OfflineError
from local_react.network import Network
options = {"asker": "t", "headers": {}, "timeout": 1}
for network in (Network("deny"), Network()):
    for asking in (
        lambda: network.get_json("https://example.org/", tool="t"),
        lambda: network.fetch("https://example.org/", asker="t", public=True),
        lambda: network.permit("t", ["example.org"], "words"),
        lambda: network.stream("https://example.org/", **options).__enter__(),
    ):
        try:
            asking()
        except OfflineError:
            continue
        raise AssertionError
"""
    assert watched(tries) == []


# What the interpreter's guard cannot see: libraries in C and Rust, and other programs.

COMMANDS = [
    ["--help"],
    ["--version"],
    ["calc", "15% of 80"],
    ["doctor"],
    ["models"],
    ["cache"],
    ["network"],
    ["network", "log"],
    ["docs", "list"],
]
QUESTIONS = [
    ["--offline", "What is 15% of 80?"],
    ["What is 15% of 80?"],
    ["--network", "deny", "--no-tools", "Say hi"],
]


@cache
def _works(*command: str) -> bool:
    if shutil.which(command[0]) is None:
        return False
    done = subprocess.run([*command, "true"], capture_output=True, check=False)
    return done.returncode == 0


def strace() -> list[str]:
    """Return the command that watches another, or skip."""
    if not _works("strace", "-f"):
        pytest.skip("SKIPPED: needs the command strace, and to be allowed to trace")
    quicker = ["strace", "-f", "--seccomp-bpf"]
    return quicker if _works(*quicker) else ["strace", "-f"]


def isolated() -> list[str]:
    """Return the command that runs another without any network, or skip."""
    if not _works("unshare", "-rn"):
        pytest.skip("SKIPPED: needs unshare, and to be allowed a network namespace (unshare -rn)")
    return ["unshare", "-rn"]


def program(
    arguments: Sequence[str], *, under: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run ours, with no terminal, and return how it ended."""
    command = [*under, sys.executable, "-m", "local_react", *arguments]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=600
    )


def ask(question: Sequence[str], *, under: Sequence[str]) -> str:
    """Put a question to the small model and return its answer."""
    try:
        resolve(MODEL)
    except ModelError as error:
        pytest.skip(f"SKIPPED, the model is missing: {error}")
    limits = ["--model", MODEL, "--max-steps", "3", "--thought-tokens", "40"]
    done = program([*limits, *question], under=under)
    assert done.returncode in (0, 4), done.stderr  # it is a weak model
    assert done.stdout.strip(), done.stderr
    assert "nothing left this machine" in done.stderr
    return done.stdout


def sockets(trace: Path) -> set[str]:
    """Return the families of the sockets that were opened, connected or sent to."""
    lines = trace.read_text("utf-8", errors="replace").splitlines()
    calls = [line for line in lines if re.search(r"\b(socket|connect|sendto|sendmsg)\(", line)]
    families = {family for line in calls for family in re.findall(r"\bAF_\w+", line)}
    assert not calls or families, calls
    return families


def tracing(trace: Path) -> list[str]:
    return [*strace(), "-e", "trace=socket,connect,sendto,sendmsg", "-o", str(trace)]


def test_the_trace_sees_a_socket(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    code = "import socket; socket.socket().connect_ex(('127.0.0.1', 1))"
    subprocess.run([*tracing(trace), sys.executable, "-c", code], check=True, capture_output=True)
    assert sockets(trace) == {"AF_INET"}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_that_needs_no_network_opens_no_socket(
    command: list[str], tmp_path: Path
) -> None:
    done = program(command, under=tracing(tmp_path / "trace"))
    assert done.returncode == 0, done.stderr
    assert sockets(tmp_path / "trace") == set()


@pytest.mark.model
@pytest.mark.parametrize("question", QUESTIONS, ids=" ".join)
def test_a_question_that_needs_no_network_opens_no_socket(
    question: list[str], tmp_path: Path
) -> None:
    ask(question, under=tracing(tmp_path / "trace"))
    assert sockets(tmp_path / "trace") == set()


@pytest.mark.model
def test_without_any_network_the_answer_is_there() -> None:
    assert ask(QUESTIONS[0], under=isolated()) == ask(QUESTIONS[0], under=[])


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_without_any_network_the_commands_work(command: list[str]) -> None:
    done = program(command, under=isolated())
    assert done.returncode == 0, done.stderr


_LOOK = """
from local_react.errors import ToolError
from local_react.network import Network
from local_react.tools.search import make_search
try:
    make_search(Network("allow"))("weather in Oslo")
except ToolError as error:
    print(error)
"""


def test_without_any_network_a_search_ends_in_one_line_that_says_so() -> None:
    command = [*isolated(), sys.executable, "-c", _LOOK]
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env=environment
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1
    assert "no network" in done.stdout
