"""Dependencies point one way, and importing the package costs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import local_react

PACKAGE = Path(local_react.__file__).parent

MAY_IMPORT = {
    "core": set[str](),
    "errors": {"core"},
    "foreign": set[str](),
    "gbnf": {"core", "errors"},
    "examples": {"outside", "tools"},
    "outside": {"core", "clipping"},
    "places": {"errors"},
    "readers": {"core", "errors", "search_path"},
    "documents": {
        "core",
        "errors",
        "atomic",
        "databases",
        "places",
        "private",
        "readers",
        "search_path",
        "words",
    },
    "words": set[str](),
    "zim": {"core", "errors"},
    "tools": {
        "gbnf",
        "private",
        "core",
        "errors",
        "foreign",
        "network",
        "search_path",
        "outside",
        "places",
        "atomic",
        "readers",
        "documents",
        "words",
        "zim",
    },
    "answers": set[str](),
    "as_dict": {"core"},
    "aside": set[str](),
    "search_path": set[str](),
    "choosing": {"core", "answers", "tools"},
    "describing": {"tools"},
    "sums": set[str](),
    "voting": {"core", "answers", "sums"},
    "protocol": {
        "core",
        "errors",
        "choosing",
        "clipping",
        "describing",
        "gbnf",
        "examples",
        "outside",
        "tools",
    },
    "guards": {"core", "sums"},
    "clipping": set[str](),
    "budget": {"core", "errors", "protocol", "clipping", "tools"},
    "loose": {"core", "protocol", "tools"},
    "writing": {"core", "aside", "protocol", "guards", "budget", "loose", "tools"},
    "acting": {"core", "errors", "aside", "protocol", "guards", "outside", "tools"},
    "loop": {
        "core",
        "acting",
        "answers",
        "aside",
        "choosing",
        "examples",
        "protocol",
        "guards",
        "clipping",
        "outside",
        "budget",
        "writing",
        "tools",
    },
    "agent": {
        "core",
        "errors",
        "acting",
        "answers",
        "aside",
        "choosing",
        "voting",
        "protocol",
        "budget",
        "loop",
        "tools",
    },
    "cache_types": set[str](),
    "catalog": {"core", "errors", "atomic", "locking", "places", "private"},
    "atomic": set[str](),
    "private": {"atomic", "places"},
    "locking": {"atomic", "private"},
    "databases": {"atomic", "errors"},
    "prefix_cache": {"atomic", "core", "errors", "places", "private"},
    "hardware": {"core", "errors"},
    "profiles": {"atomic", "core", "errors", "hardware", "locking", "places", "private"},
    "gguf_header": {"core", "errors", "catalog"},
    "memory": {"core", "errors", "cache_types", "catalog", "gguf_header"},
    "network": {"databases", "core", "errors", "places", "aside", "private"},
    "download": {"core", "errors", "atomic", "catalog", "network"},
    "backends": {
        "core",
        "errors",
        "gbnf",
        "cache_types",
        "catalog",
        "prefix_cache",
        "hardware",
        "profiles",
        "gguf_header",
        "memory",
        # Whether a file may be loaded: known by its hash, or tried in another process.
        "atomic",
        "download",
        "places",
        "private",
        "search_path",
    },
    "benchmark": {"core", "errors", "protocol", "tools", "network", "backends", "profiles"},
    "evaluation": {
        "private",
        "answers",
        "core",
        "errors",
        "aside",
        "tools",
        "agent",
        "guards",
        "network",
        "documents",
    },
    "plugins": {"core", "errors", "gbnf", "places", "tools"},
    "settings": {"core", "errors", "places", "atomic", "locking", "private"},
    "history": {
        "core",
        "errors",
        "as_dict",
        "atomic",
        "databases",
        "places",
        "private",
        "words",
    },
    "transcript": {
        "private",
        "core",
        "errors",
        "acting",
        "atomic",
        "download",
        "as_dict",
        "agent",
        "protocol",
        "loop",
        "tools",
        "session",
        "catalog",
        "places",
    },
    "session": {
        "core",
        "errors",
        "answers",
        "aside",
        "agent",
        "budget",
        "choosing",
        "clipping",
        "loop",
        "protocol",
        "tools",
        "voting",
        "writing",
    },
    "batch": {
        "core",
        "errors",
        "as_dict",
        "agent",
        "aside",
        "atomic",
        "locking",
        "private",
        "tools",
    },
    "recommending": {"core", "errors", "catalog", "hardware", "memory", "profiles"},
    "cli": {
        "private",
        "acting",
        "aside",
        "atomic",
        "cache_types",
        "as_dict",
        "plugins",
        "settings",
        "history",
        "transcript",
        "session",
        "batch",
        "recommending",
        "core",
        "errors",
        "foreign",
        "answers",
        "choosing",
        "voting",
        "protocol",
        "tools",
        "agent",
        "loop",
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
        "outside",
        "places",
        "readers",
        "documents",
        "zim",
        "evaluation",
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
        ("ddgs", "tools/search"),
        ("rich", "cli"),
        ("click", "cli"),
        ("huggingface_hub", "download"),
        ("sympy", "tools/calculator"),
        ("lark", "tools/calculator"),
        ("pint", "tools/calculator"),
        ("dateutil", "tools/calculator"),
        ("babel", "tools"),
        ("libzim", "zim"),
        ("trafilatura", "readers"),
        ("pypdf", "readers"),
        ("tenacity", "network"),
        ("sentencex", "zim"),
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


CLIENTS = {
    *("httpx2", "httpx", "httpcore2", "httpcore", "requests", "urllib3", "aiohttp", "pycurl"),
    *("primp", "curl_cffi", "ddgs", "huggingface_hub", "hf_xet", "websockets", "socks"),
    *("socket", "_socket", "socketserver", "ssl", "http", "urllib.request", "urllib.robotparser"),
    *("ftplib", "smtplib", "poplib", "imaplib", "nntplib", "telnetlib", "xmlrpc", "webbrowser"),
    *("asyncio", "multiprocessing", "trafilatura.downloads", "trafilatura.fetch_url"),
    *("trafilatura.spider", "trafilatura.feeds", "trafilatura.sitemaps"),
}
"""What opens a connection, or can."""

BESIDE_THE_DOOR = {
    # The types of the door's answers and errors; it makes no client.
    ("download/hub.py", "httpx2"),
    # The addresses of files and the user's token; it fetches nothing.
    ("download/hub.py", "huggingface_hub"),
    # It asks search engines with a client of its own, inside an exchange.
    ("tools/search/engines.py", "ddgs"),
}

CHILDREN = {
    "tools/calculator/process.py",  # the worker
    "documents/workers.py",  # readers of documents
    "readers/apart.py",  # the reader of a page or an attachment
    "zim/archive.py",  # the reader of an archive
    "download/index.py",  # pip, inside an exchange
    "benchmark.py",  # this program, measured
    "hardware.py",  # macOS's name of its processor
    "backends/llama/trying.py",  # a model's file, tried
}
"""Who starts other programs."""


def named(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def test_nothing_but_the_door_speaks_to_the_network() -> None:
    users = {
        (named(path), client)
        for path in SOURCES
        for name in imported(path)
        for client in CLIENTS
        if part_of(path) != "network" and f"{name}.".startswith(f"{client}.")
    }
    assert users == BESIDE_THE_DOOR


def test_the_door_makes_its_client_in_one_place() -> None:
    makers = {"Client", "AsyncClient", "get", "post", "request", "stream", "create_connection"}
    made = {
        named(path)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func.value) in {"httpx2", "socket"}
        and node.func.attr in makers
    }
    assert made == {"network/http.py"}


def test_the_hub_gives_addresses_and_fetches_nothing() -> None:
    path = PACKAGE / "download" / "hub.py"
    names = {name for name in imported(path) if name.startswith("huggingface_hub")}
    assert names <= {f"huggingface_hub.{name}" for name in ("constants", "get_token", "hf_hub_url")}
    used = {
        getattr(httpx2, node.attr)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "httpx2"
    }
    assert all(issubclass(kind, (Exception, httpx2.Timeout, httpx2.Response)) for kind in used)


@pytest.mark.parametrize(
    ("outlet", "among", "users"),
    [
        ("get_once", "", {"network/door.py", "tools/search/instant_answer.py"}),
        ("_download_wheel", "", {"download/index.py"}),
        ("DDGS", "", {"tools/search/engines.py"}),
        ("ask", "tools/search/asking.py", {"tools/search/asking.py"}),
        ("send", "network", {"network/http.py", "network/door.py"}),
    ],
)
def test_what_leaves_does_so_inside_an_exchange(outlet: str, among: str, users: set[str]) -> None:
    uses = {
        named(path): found
        for path in SOURCES
        if named(path).startswith(among) and (found := list(_uses(path, outlet)))
    }
    assert set(uses) == users
    for path, found in uses.items():
        for use in found:
            written_down = use["exchange"] or (path, use["function"]) in OUTLETS
            assert written_down, f"{path}:{use['line']}: {outlet} outside an exchange"


OUTLETS = {("network/http.py", "get_once"), ("tools/search/engines.py", "ask")}
"""Functions that send something, and are themselves called inside an exchange."""


def _uses(path: Path, outlet: str) -> Iterator[dict[str, Any]]:
    """Yield where a file calls `outlet`, or what it has made of it with partial()."""
    tree = ast.parse(path.read_text("utf-8"))
    handed, names = set[ast.AST](), {outlet}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and ast.unparse(node.value.func) == "partial"
            and ast.unparse(node.value.args[0]) == outlet
        ):
            handed |= set(ast.walk(node))
            names |= {ast.unparse(target) for target in node.targets}
    yield from _walk(tree, names, handed, exchange=False, function="")


def _walk(
    node: ast.AST, names: set[str], handed: set[ast.AST], *, exchange: bool, function: str
) -> Iterator[dict[str, Any]]:
    if isinstance(node, ast.FunctionDef):
        exchange, function = False, node.name
    if isinstance(node, ast.With):
        exchange = exchange or any(
            isinstance(item.context_expr, ast.Call)
            and isinstance(item.context_expr.func, ast.Attribute)
            and item.context_expr.func.attr == "exchange"
            for item in node.items
        )
    name = node.id if isinstance(node, ast.Name) else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = node.func.attr
    if name in names and node not in handed:
        yield {"line": node.lineno, "exchange": exchange, "function": function}  # type: ignore[attr-defined]
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, names, handed, exchange=exchange, function=function)


def test_no_program_is_started_but_those_named() -> None:
    users = {named(path) for path in SOURCES if "subprocess" in imported(path)}
    assert users == CHILDREN
    starters = {"system", "popen", "fork", "forkpty", "startfile", "posix_spawn", "posix_spawnp"}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "os":
                started = node.attr in starters or node.attr.startswith(("exec", "spawn"))
                assert not started, f"{path}:{node.lineno}"


def test_pip_is_run_where_its_exchange_is() -> None:
    path = PACKAGE / "download" / "index.py"
    assert {use["function"] for use in _uses(path, "Popen")} == {"_download_wheel"}


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
