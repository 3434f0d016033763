"""Generated tools, public schemas and hostile grammars, against llama.cpp in other processes.

What a process dies of is told with its cause, and the next takes what is left.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice, permutations, product
from math import ceil
from random import Random
from typing import Any

from jsonschema import FormatChecker
from jsonschema.validators import Draft202012Validator

from local_react.errors import LocalReactError, ToolError
from local_react.evaluation.sets import data_folder
from local_react.tools.schemas import tool_of_schema
from trials.grammar_asking import answers
from trials.grammar_cases import GRAMMARS, SCHEMAS, drawn_schema, drawn_value
from trials.trial import Report, Trial

_AT_ONCE = 40
"""Replies of one job of noise, as grammar_worker.py writes them."""


def _noise(attempts: int, random: Random) -> Report:
    jobs = [{"seed": random.randrange(2**32)} for _ in range(ceil(attempts / _AT_ONCE))]
    told = Counter[str]()
    failures: list[str] = []
    for job, answer in zip(jobs, answers(jobs, seconds=120), strict=True):
        failures += _lines(f"tools of seed {job['seed']}", answer, ("refused", "raised", "died"))
        failures += answer.get("failures", ())
        told.update({key: answer.get(key, 0) for key in ("ended", "calls")})
    return Report(
        len(jobs) * _AT_ONCE,
        failures,
        f"{told['ended']:,} came to their end, with {told['calls']:,} calls",
    )


def _lines(what: str, answer: dict[str, Any], faults: Iterable[str]) -> list[str]:
    return [f"{what}: {key}, {answer[key]}" for key in faults if key in answer]


def _hostile_grammars(attempts: int, random: Random) -> Report:
    """Each may compile or be refused, in a line, and what compiles may be written under."""
    chosen = random.sample(sorted(GRAMMARS), min(attempts, len(GRAMMARS)))
    jobs = [{"grammar": GRAMMARS[name], "write": True} for name in chosen]
    failures, refused = [], 0
    for name, answer in zip(chosen, answers(jobs, seconds=60), strict=True):
        failures += _lines(name, answer, ("raised", "died"))
        refused += "refused" in answer
        if "\n" in answer.get("refused", ""):
            failures.append(f"{name}: is refused in several lines")
    return Report(len(jobs), failures, f"{refused} refused by name")


def _hostile_schemas(attempts: int, random: Random) -> Report:
    """Each becomes a grammar that compiles, or is refused in a line."""
    chosen = random.sample(sorted(SCHEMAS), min(attempts, len(SCHEMAS)))
    jobs = [{"hostile": name, "write": True} for name in chosen]
    failures, refused = [], 0
    for name, answer in zip(chosen, answers(jobs, seconds=60), strict=True):
        failures += _lines(name, answer, ("raised", "died"))
        refused += "refused" in answer
        failures += _as_a_tool(name, SCHEMAS[name])
    return Report(len(jobs), failures, f"{refused} refused by name")


def _as_a_tool(name: str, schema: Any) -> list[str]:
    try:
        tool_of_schema("made", "Do it.", schema, lambda arguments: "").run({"a": {"b": ["c"]}})
    except LocalReactError as error:
        return [f"{name}: is told in several lines"] if "\n" in str(error) else []
    except Exception as error:  # noqa: BLE001 - which is what is looked for
        return [f"{name}: as a tool: {type(error).__name__}: {error}"[:200]]
    return []


def _drawn_schemas(attempts: int, random: Random) -> Report:
    """What jsonschema finds valid of values that are drawn too, the grammar admits, in one
    order of its properties."""
    jobs: list[dict[str, Any]] = []
    valid = 0
    while len(jobs) < attempts:
        schema = drawn_schema(random, 3)
        judge = Draft202012Validator(schema)
        values = [drawn_value(random, schema, 3) for _ in range(12)]
        orders = [_orders(value) for value in values if judge.is_valid(value)]
        texts = [[json.dumps(one, ensure_ascii=False) for one in some] for some in orders if some]
        if texts:
            valid += len(texts)
            jobs.append({"schema": schema, "orders": [len(some) for some in texts]})
            jobs[-1]["texts"] = [text for some in texts for text in some]
    failures = []
    for job, answer in zip(jobs, answers(jobs, seconds=60), strict=True):
        failures += _lines(json.dumps(job["schema"]), answer, ("refused", "raised", "died"))
        failures += _refused_of(job, answer.get("admits", ()))
    return Report(len(jobs), failures, f"{valid:,} valid values, all admitted unless told")


def _refused_of(job: dict[str, Any], admits: Sequence[bool]) -> list[str]:
    found, at = [], 0
    for count in job["orders"] if admits else ():
        if not any(admits[at : at + count]):
            found.append(f"{json.dumps(job['schema'])} refuses {job['texts'][at]}")
        at += count
    return found


def _orders(value: Any) -> list[Any]:
    """Return a value with the properties of each object in it in all orders; nothing where
    these are too many."""
    if isinstance(value, dict):
        parts = [[(name, part) for part in _orders(value[name])] for name in value]
        rows = (row for some in product(*parts) for row in permutations(some))
        found: list[Any] = [dict(row) for row in islice(rows, _ORDERS + 1)]
    elif isinstance(value, list):
        found = [list(row) for row in islice(product(*map(_orders, value)), _ORDERS + 1)]
    else:
        return [value]
    return found if len(found) <= _ORDERS else []


_ORDERS = 150


def _public_schemas(attempts: int, random: Random) -> Report:
    """Each becomes a grammar or is refused by name, and no invalid value gets through."""
    rows = _rows("jsonschemabench")
    rows = random.sample(rows, min(attempts, len(rows)))
    jobs = [
        {
            "schema": row["schema"],
            "texts": [json.dumps(test["data"], ensure_ascii=False) for test in row["tests"]],
        }
        for row in rows
    ]
    told = Counter[str]()
    failures: list[str] = []
    for row, answer in zip(rows, answers(jobs, seconds=60), strict=True):
        failures += _lines(row["id"], answer, ("raised", "died"))
        told["compiled"] += "admits" in answer
        for test, admitted in zip(row["tests"], answer.get("admits", ()), strict=False):
            kind = "valid" if test["valid"] else "invalid"
            told[kind] += 1
            told[f"{kind} admitted"] += admitted
            if admitted and not test["valid"] and _passes(row["schema"], test["data"]):
                failures.append(f"{row['id']}: {json.dumps(test['data'])} gets through")
    figures = (
        f"{told['compiled']} compile; of {told['valid']} valid values {told['valid admitted']} are "
        f"admitted; of {told['invalid']} others {told['invalid admitted']}, none of which validate "
        "unless told"
    )
    return Report(len(rows), failures, figures, "" if rows else _MISSING)


_MISSING = "SKIPPED, the public cases are not here: set LOCAL_REACT_DATA"


def _passes(schema: Any, value: Any) -> bool:
    """Return whether a value validates, as a tool's arguments or within them."""
    whole = {"type": "object", "properties": {"value": schema}}
    if isinstance(schema, dict) and schema.get("type") == "object":
        whole, given = schema, value
    else:
        given = {"value": value}
    try:
        tool_of_schema("judge", "Judge.", whole, lambda arguments: "").run(given)
    except ToolError:
        return False
    except LocalReactError:
        checker = FormatChecker()
        return Draft202012Validator(schema, format_checker=checker).is_valid(value)
    return True


def _public_grammars(attempts: int, random: Random) -> Report:
    """llama.cpp's own cases: grammars that compile or don't, and schemas."""
    rows = _rows("llamacpp_grammar")
    rows = random.sample(rows, min(attempts, len(rows)))
    jobs = [_job(row) for row in rows]
    told = Counter[str]()
    failures: list[str] = []
    for row, answer in zip(rows, answers(jobs, seconds=60), strict=True):
        failures += _lines(row["id"], answer, ("raised", "died"))
        told["refused"] += "refused" in answer
        if _is_wrong(row, "refused" in answer):
            failures.append(f"{row['id']}: {answer.get('refused', 'is not refused')}")
        failures += _judged(row, answer.get("admits", ()), told)
    figures = (
        f"{told['right']} of {told['all']} texts of its grammars and schemas admitted or refused "
        f"as there; {told['refused']} refused by name; of {told['loose']} others {told['valid']} "
        "are valid to jsonschema"
    )
    return Report(len(rows), failures, figures, "" if rows else _MISSING)


def _job(row: dict[str, Any]) -> dict[str, Any]:
    texts = [*row.get("accept", ()), *row.get("reject", ())]
    if row["kind"].startswith("gbnf"):
        return {"grammar": row["grammar"], "texts": texts}
    # Written as they are here: one space behind a comma and a colon, and none elsewhere.
    return {"schema": json.loads(row["schema_text"]), "texts": [_plain(text) for text in texts]}


def _plain(text: str) -> str:
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        return text


def _is_wrong(row: dict[str, Any], refused: bool) -> bool:
    """Return whether a case was to be refused and was not, or is a grammar and was."""
    if row["kind"] == "gbnf_invalid" or row.get("status") == "failure":
        return not refused
    return refused and row["kind"] == "gbnf"


def _judged(row: dict[str, Any], admits: Sequence[bool], told: Counter[str]) -> list[str]:
    """Count what is as there; return what is not, unless validation is to tell."""
    found = []
    texts = [(text, True) for text in row.get("accept", ())]
    texts += [(text, False) for text in row.get("reject", ())]
    for (text, wanted), admitted in zip(texts, admits, strict=False):
        told["all"] += 1
        told["right"] += admitted == wanted
        if wanted and not admitted:
            found.append(f"{row['id']}: {text!r} is refused")
        if admitted and not wanted:
            told["loose"] += 1
            if row["kind"] == "gbnf":
                found.append(f"{row['id']}: {text!r} is admitted")
            told["valid"] += _passes(json.loads(row["schema_text"]), json.loads(text))
    return found


def _rows(name: str) -> list[dict[str, Any]]:
    try:
        text = (data_folder() / name / "public.jsonl").read_text(encoding="utf-8")
    except OSError:
        return []
    return [json.loads(line) for line in text.splitlines()]


TRIALS: tuple[Trial, ...] = (
    Trial(
        "grammar-noise",
        "random weights write calls of generated tools: they parse and validate",
        _noise,
        whole=10_000,
        short=80,
    ),
    Trial(
        "grammar-hostile",
        "grammars that crash llama.cpp, or never end",
        _hostile_grammars,
        whole=len(GRAMMARS),
        short=14,
    ),
    Trial(
        "grammar-hostile-schemas",
        "schemas that are none, too large, or turn round",
        _hostile_schemas,
        whole=len(SCHEMAS),
        short=14,
    ),
    Trial(
        "grammar-drawn-schemas",
        "generated schemas: valid values are admitted",
        _drawn_schemas,
        whole=3_000,
        short=150,
    ),
    Trial(
        "grammar-public-schemas",
        "JSONSchemaBench: compiles, admits, lets nothing invalid through",
        _public_schemas,
        whole=109,
        short=40,
    ),
    Trial(
        "grammar-public-grammars",
        "llama.cpp's own cases",
        _public_grammars,
        whole=65,
        short=65,
    ),
)
