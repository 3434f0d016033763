"""Dependencies point one way, and importing the package costs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import local_react

PACKAGE = Path(local_react.__file__).parent

MAY_IMPORT = {
    "core": set[str](),
    "errors": {"core"},
    "gbnf": {"core", "errors"},
    "examples": {"core", "errors"},
    "tools": {"core", "errors", "network"},
    "protocol": {"core", "errors", "gbnf", "examples", "tools"},
    "guards": {"core"},
    "clipping": set[str](),
    "budget": {"core", "errors", "protocol", "clipping", "tools"},
    "writing": {"core", "protocol", "guards", "budget", "tools"},
    "agent": {"core", "errors", "protocol", "guards", "clipping", "budget", "writing", "tools"},
    "catalog": {"core", "errors"},
    "atomic": set[str](),
    "prefix_cache": {"atomic", "core", "errors"},
    "hardware": {"core", "errors"},
    "profiles": {"atomic", "core", "errors", "hardware"},
    "gguf_header": {"core", "errors"},
    "memory": {"core", "errors", "catalog", "gguf_header"},
    "network": {"core", "errors"},
    "download": {"core", "errors", "catalog", "network"},
    "backends": {
        "core",
        "errors",
        "gbnf",
        "catalog",
        "prefix_cache",
        "hardware",
        "profiles",
        "gguf_header",
        "memory",
    },
    "benchmark": {"core", "errors", "protocol", "tools", "network", "backends", "profiles"},
    "cli": {
        "core",
        "errors",
        "protocol",
        "tools",
        "agent",
        "catalog",
        "network",
        "download",
        "backends",
        "hardware",
        "profiles",
        "gguf_header",
        "memory",
        "prefix_cache",
        "benchmark",
    },
    "__main__": {"cli"},
}
"""Which part of the package may import which others, besides itself. The tools are
handed the network's door: they import its type, not a client."""

SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(path: Path) -> set[str]:
    """Return the full names of all that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_the_table_names_every_part() -> None:
    assert {part_of(path) for path in SOURCES} == set(MAY_IMPORT)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_dependencies_point_one_way(path: Path) -> None:
    part = part_of(path)
    parts = {name.split(".")[1] for name in imported(path) if name.startswith("local_react.")}
    assert parts - {part} <= MAY_IMPORT[part]


@pytest.mark.parametrize(
    ("library", "home"),
    [
        ("llama_cpp", "backends/llama"),
        ("ddgs", "tools/search.py"),
        ("rich", "cli"),
        ("click", "cli"),
        ("huggingface_hub", "download"),
        ("sympy", "tools/calculator"),
        ("lark", "tools/calculator"),
        ("pint", "tools/calculator"),
        ("dateutil", "tools/calculator"),
    ],
)
def test_a_library_has_one_home(library: str, home: str) -> None:
    users = {
        path.relative_to(PACKAGE).as_posix()
        for path in SOURCES
        if any(name.split(".")[0] == library for name in imported(path))
    }
    assert users
    assert {user for user in users if not user.startswith(home)} == set()


def test_only_the_doors_speak_http() -> None:
    clients = {"httpx2", "httpx", "requests", "urllib3", "socket", "http", "aiohttp"}
    users = {
        part_of(path)
        for path in SOURCES
        if any(name.split(".")[0] in clients for name in imported(path))
    }
    assert users <= {"network", "download"}


IMPORT = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(args[0]) if event == "open" else None)
import local_react
heavy = {"llama_cpp", "sympy", "pint", "rich", "numpy", "pydantic", "click", "ddgs"}
heavy &= set(sys.modules)
strange = [name for name in opened if not str(name).endswith((".py", ".pyc"))]
assert not heavy, heavy
assert not strange, strange
assert all(hasattr(local_react, name) for name in local_react.__all__)
"""


def test_importing_the_package_loads_opens_and_prints_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_all_is_what_it_should_be() -> None:
    assert local_react.__all__ == sorted(local_react.__all__)
    assert set(local_react.__all__) == set(local_react._HOMES)
    with pytest.raises(AttributeError):
        local_react.nothing  # noqa: B018


def test_no_text_is_ever_evaluated() -> None:
    forbidden = {"eval", "exec", "sympify", "parse_expr", "compile"}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in forbidden, f"{path}:{node.lineno}"
        names = {name.rsplit(".", 1)[-1] for name in imported(path)}
        assert not names & {"sympify", "parse_expr"}, path


def test_modules_fit_into_one_room() -> None:
    assert {p.name: n for p in SOURCES if (n := len(p.read_text("utf-8").splitlines())) > 350} == {}
