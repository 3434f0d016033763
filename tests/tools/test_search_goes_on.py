"""A search that is refused, fails, or is made by another version of ddgs: the run goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import ddgs
import pytest
from ddgs.exceptions import DDGSException, RatelimitException
from loopback import closed_port
from searching import at

from local_react import Agent, Network, ScriptedModel, calculator
from local_react.errors import ToolError
from local_react.tools.search import make_search

SEARCH = 'Thought: t\nAction: search {{"query": "{}"}}'
FINISH = 'Thought: t\nAction: Finish {"answer": "it is not known"}'
HITS = [{"title": f"T{n}", "body": f"b{n}", "href": f"https://example.org/{n}"} for n in range(5)]


def put(monkeypatch: pytest.MonkeyPatch, text: Callable[..., Any]) -> None:
    """Let a client search in this way, and nobody give an instant answer."""
    at(monkeypatch, f"http://127.0.0.1:{closed_port()}/")

    class Client:
        def __init__(self, **_: Any) -> None:
            pass

        def text(self, *arguments: Any, **options: Any) -> Any:
            return text(*arguments, **options)

    monkeypatch.setattr(ddgs, "DDGS", Client)


def quick() -> Any:
    return make_search(Network("allow", sleep=lambda _: None), max_results=2)


@pytest.mark.parametrize(
    "error", [RatelimitException("202 Ratelimit"), DDGSException("No results found.")]
)
def test_a_refused_search_is_told_and_the_run_goes_on(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    asked: list[str] = []

    def refuses(words: str, **_: Any) -> Any:
        asked.append(words)
        raise error

    put(monkeypatch, refuses)
    replies = [SEARCH.format("rain"), SEARCH.format("rain"), FINISH]
    run = Agent(ScriptedModel(replies), [quick(), calculator]).run("Does it rain?")
    assert (run.answer, run.finished) == ("it is not known", True)
    first, again = (str(step.observation) for step in run.steps[:2])
    assert "refuse" in first
    assert "\n" not in first
    assert "You had this result already" in again
    assert len(asked) <= 3


def query(query: str, *, region: str, safesearch: str, max_results: int, backend: str) -> Any:
    return HITS


def keywords(keywords: str, region: str, safesearch: str, max_results: int, backend: str) -> Any:
    return HITS


def anything(words: str, **options: Any) -> Any:
    return iter(HITS)


@pytest.mark.parametrize("text", [query, keywords, anything])
def test_the_words_are_given_whatever_the_client_calls_them(
    monkeypatch: pytest.MonkeyPatch, text: Callable[..., Any]
) -> None:
    put(monkeypatch, text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = quick()("rain")
    assert [passage.text for passage in found.passages] == ["b0", "b1"]


def test_a_client_that_changed_altogether_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(words: str) -> Any:
        return HITS

    put(monkeypatch, other)
    with pytest.raises(ToolError) as caught:
        quick()("rain")
    assert "\n" not in str(caught.value)


_ASK = """
import sys
sys.modules["ddgs"] = None
from local_react import Agent, Network, ScriptedModel, builtin_tools
replies = [
    'Thought: t\\nAction: calculator {"expression": "6*7"}',
    'Thought: t\\nAction: search {"query": "rain"}',
    'Thought: t\\nAction: Finish {"answer": "42"}',
]
run = Agent(ScriptedModel(replies), builtin_tools(Network("allow"))).run("Who knows?")
print([step.observation for step in run.steps], run.answer)
"""


def test_without_ddgs_all_else_works(own_places: None) -> None:
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", _ASK]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env=dict(os.environ)
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "['42', 'Error: search needs the package ddgs: pip install ddgs', None]" in done.stdout


@pytest.mark.parametrize(
    "proxy",
    [
        "http://127.0.0.1:9",
        "https://127.0.0.1:9",
        "socks5://127.0.0.1:9",
        "socks5h://127.0.0.1:9",
        "http://user:secret@127.0.0.1:9",
        "127.0.0.1:9",
        "ftp://127.0.0.1:9",
        "http://[::1]:9",
        "no proxy at all",
    ],
)
@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
def test_a_proxy_that_does_not_work_is_one_line_that_names_it(
    monkeypatch: pytest.MonkeyPatch, own_places: None, name: str, proxy: str
) -> None:
    monkeypatch.setenv(name, proxy)
    with pytest.raises(ToolError, match=r"the proxy .* HTTPS_PROXY") as caught:
        make_search(Network("allow"))("rain")
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_sum_needs_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    replies = ['Thought: t\nAction: calculator {"expression": "6*7"}', FINISH]
    run = Agent(ScriptedModel(replies), [make_search(Network("allow")), calculator]).run("Who?")
    assert run.steps[0].observation == "42"
