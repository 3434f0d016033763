"""cases.md names tests that exist, and leaves out none of the cases that are here."""

from __future__ import annotations

import ast
import json
import os
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LINES = re.findall(r"^\| ([a-z]\d+) \|.*$", (ROOT / "tests/cases.md").read_text("utf-8"), re.M)
TEXT = (ROOT / "tests" / "cases.md").read_text("utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)))


@cache
def names_in(path: Path) -> frozenset[str]:
    """Return the names of a file's tests."""
    nodes = ast.parse(path.read_text("utf-8")).body
    return frozenset(
        node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def cases() -> list[dict[str, str]]:
    """Return the public cases, which are no part of the project."""
    folder = Path(os.environ.get("LOCAL_REACT_CASES", ROOT.parent / "shared" / "cases"))
    if not (folder / "bugs.jsonl").is_file():
        pytest.skip(f"SKIPPED: no public cases in {folder}; set LOCAL_REACT_CASES")
    lines = (folder / "bugs.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_each_line_names_tests() -> None:
    rows = [line for line in TEXT.splitlines() if re.match(r"\| [a-z]\d+ \|", line)]
    assert len(rows) == len(LINES) == len(set(LINES)) >= 50
    assert [row for row in rows if not re.search(r"::test_\w+`", row)] == []


@pytest.mark.parametrize(("file", "name"), NAMED, ids=lambda part: part.rpartition("/")[2])
def test_each_test_that_is_named_exists(file: str, name: str) -> None:
    assert name in names_in(ROOT / file)


def test_no_case_is_left_out_and_none_is_made_up() -> None:
    assert {case["id"] for case in cases()} == set(LINES)


def test_no_sentence_is_taken_from_a_case() -> None:
    told = {" ".join(case[part].split()) for case in cases() for part in ("symptom", "expected")}
    assert [sentence for sentence in told if len(sentence) > 20 and sentence in TEXT] == []


def test_the_database_of_time_zones_is_required() -> None:
    # Windows, and slim images, have none of their own.
    required = (ROOT / "pyproject.toml").read_text("utf-8").partition("dependencies = [")[2]
    assert re.search(r'^\s*"tzdata[>=\d.]*",$', required.partition("\n]")[0], re.MULTILINE)
