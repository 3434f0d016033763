"""The page of a run holds all of it, asks nobody for anything, and escapes every text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from lxml import html
from recorded_runs import HOSTILE, USUAL, call, finish, recorded

from local_react import Run
from local_react.cli.trace_export import FORMS
from local_react.core import Vote
from local_react.transcript import Transcript, bare, parsed, redacted
from local_react.transcript.page import page

EGRESS = {
    "tool": "weather",
    "host": "weather.test",
    "text": f"Oslo {HOSTILE}",
    "bytes_sent": 120,
    "bytes_received": 4567,
    "result": "200",
}


def told(transcript: Transcript) -> tuple[str, Any]:
    text = page(transcript)
    text.encode()
    return text, html.document_fromstring(text)


@pytest.fixture(scope="module")
def usual() -> tuple[str, Any]:
    _, transcript = recorded(
        question=f"What is the weather? {HOSTILE}",
        facts=[HOSTILE],
        system=HOSTILE,
        egress=[EGRESS],
    )
    return told(transcript)


def test_the_page_holds_the_whole_run(usual: tuple[str, Any]) -> None:
    _, tree = usual
    words = tree.text_content()
    for part in ("21 degrees, 38 lbs", "First the weather.", "weather.test", "scripted"):
        assert part in words
    assert "120 bytes out, 4567 in" in words
    titles = [" ".join(one.text_content().split()) for one in tree.iter("summary")]
    assert titles == [
        "Thought",
        "1. Action: weather",
        "1. Observation",
        "Thought",
        "2. Action: weigh",
        "2. Observation",
        "3. Action: calculator",
        "3. Observation",
        "Thought",
        "4. Action: weather",
        "4. Observation",
        "Thought",
        "5. Action: Finish",
        "Model and settings",
    ]
    assert len(list(tree.iter("rect"))) == 4  # a bar for each reply
    assert "max_steps" in words
    assert "[1] Weather (https://weather.test/)" in words


ELEMENTS = set(
    "html head meta title style body header main section h1 h2 p ul ol li svg rect details summary"
    " pre bdi span table tr th td".split()
)
ATTRIBUTES = set(
    "lang charset http-equiv content name class dir id aria-labelledby aria-label role x width"
    " height tabindex scope".split()
)


def test_nothing_in_the_page_runs_or_asks(usual: tuple[str, Any]) -> None:
    text, tree = usual
    assert {one.tag for one in tree.iter()} <= ELEMENTS
    assert {name for one in tree.iter() for name in one.attrib} <= ATTRIBUTES
    assert "<script" not in text
    assert "<img" not in text
    assert not re.search(r"url\(|@import|expression\(", text)


def test_a_hostile_text_is_seen_as_it_is(usual: tuple[str, Any]) -> None:
    text, tree = usual
    plain = r"""</pre></details><script>alert(1)</script><img src=x onerror=alert(2)>"""
    for place in ("//h1", "//p[@class='answer']", "//pre[contains(., 'degrees in')]"):
        assert plain in tree.xpath(place)[0].text_content()
    # What nobody sees, or what turns the order of a line round, is spelled out.
    assert r"\u202edlrow\u2066" in text
    assert r"\x00\x1b[31m\u2028" in text
    assert not re.search(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]", text
    )
    # And nothing of it is taken for a template.
    assert "{{ 7 * 7 }} {% raw %}" in text


def test_the_policy_admits_its_own_style_alone(usual: tuple[str, Any]) -> None:
    text, tree = usual
    [policy] = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    style = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    assert len(style) == 1
    digest = base64.b64encode(hashlib.sha256(style[0].encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    # It stands before all that it is to govern.
    head = [one.tag for one in tree.find("head")]
    assert head[:2] == ["meta", "meta"]


def test_the_text_has_one_heading_of_each_part(usual: tuple[str, Any]) -> None:
    _, tree = usual
    for section in tree.iter("section"):
        [name] = section.xpath("./@aria-labelledby")
        assert [one.tag for one in tree.xpath(f"//*[@id='{name}']")] == ["h2"]
    assert len(list(tree.iter("h1"))) == 1


def test_votes_are_shown() -> None:
    run, transcript = recorded()
    votes = (
        Vote(HOSTILE, "tools", True, "finish", seconds=1.5),
        Vote("", "reasoning", False, "max_steps"),
    )
    end = {
        **transcript.end,
        "votes": [
            {**vote_as_dict(vote), "usage": {"evaluated": 0, "generated": 0}} for vote in votes
        ],
    }
    _, tree = told(replace(transcript, end=end))
    rows = tree.xpath("//section[@aria-labelledby='votes']//td")
    assert [one.text_content() for one in rows[1:4]] == ["tools", "yes", "1.5 s"]
    assert "<script>alert(1)</script>" in rows[0].text_content()
    assert rows[4].text_content() == "(no answer)"
    assert run.votes == ()


def vote_as_dict(vote: Vote) -> dict[str, Any]:
    return {name: getattr(vote, name) for name in Vote.__slots__}


def test_the_bars_lie_behind_one_another() -> None:
    _, transcript = recorded()
    steps = [{**step, "seconds": 0.0} for step in transcript.steps]
    for number, seconds in ((0, 1.0), (1, 2.0), (4, 1.0)):
        steps[number]["seconds"] = seconds
    _, tree = told(replace(transcript, steps=steps))
    bars = [(one.get("x"), one.get("width")) for one in tree.iter("rect")]
    assert bars == [
        ("0.00%", "25.00%"),
        ("25.00%", "50.00%"),
        ("75.00%", "0.00%"),
        ("75.00%", "25.00%"),
    ]


@pytest.mark.parametrize(
    "transcript",
    [
        bare(Run("q", (), "", "interrupted", "m"), time="2026-01-01T00:00:00+00:00"),
        recorded(["nonsense", finish("x")])[1],
        redacted(recorded(egress=[EGRESS])[1]),
    ],
    ids=["bare", "malformed", "redacted"],
)
def test_every_kind_of_run_has_a_page(transcript: Transcript) -> None:
    text, tree = told(transcript)
    assert tree.find("body") is not None
    assert "StrictUndefined" not in text


# Redaction

SECRET = "Mrs Smith-Jones"
NUMBER = 5550123


def secret() -> Transcript:
    reply = call(
        f"{SECRET} wants it.",
        ("weather", {"city": SECRET}),
        ("note", {"text": f"{NUMBER}", "number": NUMBER, SECRET: [SECRET]}),
        ("nothing", {"name": SECRET, "type": {SECRET: NUMBER}}),
    )
    _, transcript = recorded(
        [reply, f"{SECRET}: nonsense", finish(f"{SECRET} has {NUMBER}")],
        question=f"Who is {SECRET}, {NUMBER}?",
        facts=[f"knows {SECRET}"],
        system=f"Be kind to {SECRET}.",
        egress=[{**EGRESS, "text": SECRET, "host": f"{SECRET}.test", "result": SECRET}],
        approve=lambda _: True,
    )
    head = {**transcript.head, "model": f"/home/{SECRET}/models/m.gguf", "session": SECRET}
    head["settings"] = {**head["settings"], "loading": {"path": f"/home/{SECRET}", "threads": 2}}
    return replace(transcript, head=head)


def test_a_redacted_transcript_says_nothing_of_what_was_said() -> None:
    before, after = secret(), redacted(secret())
    assert all(part in before.text for part in (SECRET, str(NUMBER)))
    assert "Smith" not in after.text
    assert str(NUMBER) not in after.text
    # But what is no secret can still be read.
    assert after.calls[0]["arguments"].keys() == {"city"}


def test_its_shape_figures_and_times_stay() -> None:
    before = secret()
    after = redacted(before)
    assert after.run.usage == before.run.usage
    assert [step["seconds"] for step in after.steps] == [step["seconds"] for step in before.steps]
    assert [one["tool"] for one in after.calls] == [one["tool"] for one in before.calls]
    assert after.run.stop_reason == before.run.stop_reason
    assert after.head["settings"]["max_steps"] == before.head["settings"]["max_steps"]
    assert after.model == "m.gguf"
    assert parsed(after.text, "it").is_redacted


def test_the_same_text_has_the_same_mark_and_no_other_has() -> None:
    _, transcript = recorded([*USUAL[:3], finish("First the weather.")])
    after = redacted(transcript)
    assert after.steps[0]["thought"] == after.steps[4]["action"]["finish"]
    assert re.fullmatch(r"\[text \d+: 18 characters\]", after.steps[0]["thought"])
    assert after.steps[1]["thought"] != after.steps[0]["thought"]


def strings_replaced(value: Any, name: str = "") -> Any:
    """Return JSON in which every text says something, but for those without which it is no
    transcript, and the names of tools and model, which stay."""
    if isinstance(value, dict):
        return {key: strings_replaced(part, key) for key, part in value.items()}
    if isinstance(value, list):
        return [strings_replaced(part, name) for part in value]
    own = ("type", "time", "stop_reason", "way", "name", "tool", "model")
    return f"{SECRET} {value}" if isinstance(value, str) and name not in own else value


@pytest.mark.parametrize("form", FORMS)
def test_nothing_that_any_text_says_is_left_in_any_form(form: str) -> None:
    settings = {"loading": {"cache_type_k": "q8_0", "path": "p"}, "more": ["text", {"of": "it"}]}
    whole = secret()
    head = {**whole.head, "settings": {**whole.head["settings"], **settings}, "new": ["it"]}
    lines = [
        strings_replaced(json.loads(line))
        for line in replace(whole, head=head).text.split("\n")
        if line
    ]
    told = parsed("\n".join(map(json.dumps, lines)), "it")
    assert SECRET in FORMS[form](told)
    assert "Smith" not in FORMS[form](redacted(told))


def test_what_says_how_it_was_made_stays() -> None:
    after = redacted(secret()).head
    before = secret().head
    for name in ("version", "time", "grammar_sha256", "prompt_sha256"):
        assert after[name] == before[name]
    assert [tool["may"] for tool in after["tools"]] == [tool["may"] for tool in before["tools"]]
    assert after["settings"]["sampling"] == before["settings"]["sampling"]
    assert after["settings"]["loading"]["threads"] == 2
