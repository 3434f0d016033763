"""What is handed to others: the wheel, the source distribution, and what an import does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
LOCK = ROOT / ".ci" / "requirements-dev.txt"

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> dict[str, bytes]:
    """The wheel's files."""
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def source(built: Path) -> dict[str, bytes]:
    """The files of the source distribution."""
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        files = [member for member in archive.getmembers() if member.isfile()]
        return {one.name: archive.extractfile(one).read() for one in files}  # type: ignore[union-attr]


def test_the_wheel_holds_the_package_and_nothing_else(wheel: dict[str, bytes]) -> None:
    ours = {name: data for name, data in wheel.items() if ".dist-info/" not in name}
    assert {name.partition("/")[0] for name in ours} == {"local_react"}
    package = ROOT / "local_react"
    there = {path.relative_to(ROOT).as_posix() for path in package.rglob("*.py")}
    assert {name for name in ours if name.endswith(".py")} == there
    data = {name for name in ours if not name.endswith(".py")}
    assert data == {
        "local_react/py.typed",
        "local_react/catalog.toml",
        "local_react/tools/calculator/grammar.lark",
        "local_react/transcript/page.css",
        "local_react/transcript/page.html",
    }
    assert ours["local_react/catalog.toml"] == (ROOT / "models" / "catalog.toml").read_bytes()
    assert sum(map(len, ours.values())) < 4_000_000


def test_the_wheel_works_where_there_is_no_checkout(
    wheel: dict[str, bytes], tmp_path: Path
) -> None:
    for name, data in wheel.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import local_react; "
        "from local_react.catalog import load_catalogue; "
        "print(local_react.__file__, load_catalogue().default)"
    )
    command = [sys.executable, "-I", "-B", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.startswith(str(tmp_path))


def test_the_source_distribution_holds_text_alone(source: dict[str, bytes]) -> None:
    kinds = {".py", ".md", ".toml", ".txt", ".svg", ".css", ".html", ".lark", ".typed", ".json"}
    for name, data in source.items():
        path = Path(name)
        assert path.suffix in kinds or path.name in {"LICENSE", "PKG-INFO", ".gitignore"}, name
        assert len(data) < 400_000, name
        data.decode()


@pytest.mark.parametrize("kind", ["wheel", "source"])
def test_no_secret_is_handed_out(kind: str, request: pytest.FixtureRequest) -> None:
    secret = re.compile(
        rb"-----BEGIN [A-Z ]*PRIVATE KEY|\b(hf|ghp|gho|pypi)[-_][A-Za-z0-9]{30,}"
        rb"|\bAKIA[A-Z0-9]{16}\b"
    )
    files: dict[str, bytes] = request.getfixturevalue(kind)
    assert files
    assert [name for name, data in files.items() if secret.search(data)] == []


# dependencies


def lines(*extras: str) -> list[Requirement]:
    every = [*PROJECT["dependencies"]]
    for extra in extras:
        every += PROJECT["optional-dependencies"][extra]
    return [Requirement(line) for line in every if not line.startswith("local-react")]


def locked() -> list[Requirement]:
    text = LOCK.read_text(encoding="utf-8").replace("\\\n", " ")
    rows = [row for row in text.splitlines() if row and not row.startswith("#")]
    return [Requirement(row.partition(" --hash")[0]) for row in rows]


def test_every_dependency_has_an_upper_bound() -> None:
    free = {"tzdata", "regex"}  # their versions are dates
    unbounded = {one.name for one in lines("zim") if "<" not in str(one.specifier)}
    assert unbounded == free


def test_the_lock_file_has_what_is_declared_and_a_hash_for_each() -> None:
    exact = locked()
    names = {one.name.casefold().replace("_", "-") for one in exact}
    wanted = {one.name.casefold().replace("_", "-") for one in lines("test", "zim")}
    assert wanted <= names
    assert all(str(one.specifier).startswith("==") for one in exact)
    text = LOCK.read_text(encoding="utf-8").replace("\\\n", " ")
    assert all("--hash=sha256:" in row for row in text.splitlines() if "==" in row)


def test_the_lock_file_keeps_to_the_bounds() -> None:
    bounds = {one.name.casefold().replace("_", "-"): one.specifier for one in lines("test", "zim")}
    for one in locked():
        version = str(one.specifier).removeprefix("==")
        assert bounds.get(one.name, one.specifier).contains(version), one


def test_the_lock_file_names_no_index() -> None:
    assert not re.search(r"://|--index-url|--find-links|--trusted-host", LOCK.read_text("utf-8"))


# imports

_IMPORT_ALL = """
import importlib, json, os, pkgutil, sys
import local_react
seen = []
def watch(event, args):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "subprocess.", "os.system",
                         "os.exec", "os.posix_spawn", "os.fork", "urllib.", "os.startfile")):
        seen.append(f"{event} {args}")
    written = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+")
    if written and args[0] != os.devnull:
        seen.append(f"{event} {args}")
sys.addaudithook(watch)
names = [m.name for m in pkgutil.walk_packages(local_react.__path__, "local_react.")]
for name in names:
    importlib.import_module(name)
print(json.dumps({"modules": len(names), "seen": seen}))
"""


def test_importing_every_module_runs_fetches_and_writes_nothing(tmp_path: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{_IMPORT_ALL}"
    command = [sys.executable, "-B", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    told = json.loads(done.stdout)
    assert told["modules"] > 200
    assert told["seen"] == []
    assert list(tmp_path.iterdir()) == []
