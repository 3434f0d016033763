"""Hostile text through the prompt, the parser, the transcript and the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from time import thread_time
from typing import Any, Final

from local_react.backends.chat_template import ChatTemplate
from local_react.backends.template_limits import Limited
from local_react.core import Call, Finish, Malformed, Message
from local_react.errors import ModelError
from local_react.outside import HEAD, shown
from local_react.protocol import closed, closing, observation, parse, partial_answer, written
from trials import hostile_runs
from trials.hostile_templates import hostile_template
from trials.hostile_text import findings, hostile, huge, is_plain
from trials.trial import Report, Trial
from trials.vocabularies import Words, vocabularies

_SLOW: Final = 20.0
"""Seconds of the processor for a megabyte: a hundred times what it takes."""
_TEMPLATE_SECONDS: Final = 0.3


def _tokens(attempts: int, random: Random) -> Report:
    failures = list[str]()
    with vocabularies() as models:
        for number in range(attempts):
            drawn = huge(random, 1 << 14) if number % 50 == 49 else hostile(random)
            texts = [drawn, hostile(random), observation(hostile(random)).content]
            for words in models:
                failures += [f"{words.name}: {line}" for line in _forged(words, texts)]
        names = ", ".join(words.name for words in models)
    return Report(attempts, failures, f"on each of {names}")


def _forged(words: Words, texts: list[str]) -> Iterator[str]:
    """Yield what untrusted texts have become that they must not."""
    prompt = words.prompt(*texts)
    own = [part.text for part in words.prompt(*("x" for _ in texts)) if part.trusted]
    if [part.text for part in prompt if part.trusted] != own:
        yield f"the template's own text is changed by {texts!r:.200}"
    for part in prompt:
        if part.trusted:
            continue
        tokens = words.vocabulary.tokenize(part.text)
        if marks := {mark for token in {*tokens} if (mark := words.marking(token))}:
            yield f"{sorted(marks)} of {part.text!r:.200}"
        plain = part.text.encode("utf-8", "replace").decode()
        if "▁" not in plain and words.vocabulary.text_of(tokens) != plain:
            yield f"other text than {part.text!r:.200}"


def _fence(attempts: int, random: Random) -> Report:
    failures = list[str]()
    for _ in range(attempts):
        found, most = findings(random), random.choice((60, 200, 2000))
        text, sources = shown(found, random.randint(1, 9), most, lambda text: len(text) // 3 + 1)
        first, *lines = text.split("\n")
        heads = [line for line in lines if line.startswith(tuple("> [" + d for d in "0123456789"))]
        if first != HEAD or len(heads) != len(sources):
            failures.append(f"{len(sources)} sources, {len(heads)} heads: {found!r:.300}")
        if open_ := [line for line in lines if not line.startswith((">", "… (cut: the first "))]:
            failures.append(f"a line outside the quote: {open_[0]!r:.200}")
        if len(text.splitlines()) != 1 + len(lines) or not is_plain(text):
            failures.append(f"a character that steers or breaks a line: {text!r:.300}")
    return Report(attempts, failures)


def _parser(attempts: int, random: Random) -> Report:
    failures, slowest = list[str](), 0.0
    for number in range(attempts):
        text = huge(random) if number % 20 == 19 else _reply(random)
        began = thread_time()
        failures += _misread(text)
        slowest = max(slowest, thread_time() - began)
    if slowest > _SLOW:
        failures.append(f"a reply took {slowest:.1f} s")
    return Report(attempts, failures, f"at most {slowest:.2f} s for a megabyte")


def _reply(random: Random) -> str:
    """Return a reply: noise, a whole one, or one that is cut off, and noise behind."""
    arguments = {hostile(random, most=9): _value(random, 3) for _ in range(random.randint(0, 3))}
    call = Call("search", arguments) if random.random() < 0.6 else Finish(hostile(random) + "a")
    whole = written(hostile(random), call)
    at = random.randrange(len(whole) + 1)
    return random.choice(
        (hostile(random), whole, whole[:at], whole[:at] + hostile(random), _deep(random))
    )


def _deep(random: Random) -> str:
    opening, many = random.choice(("[", '{"a":', "(", "{")), random.choice((10, 999, 99_999))
    return f"Thought: t\nAction: search {opening * many}{random.choice(('', '1', ']' * many))}"


def _value(random: Random, depth: int) -> Any:
    kind = random.randrange(8 if depth else 6)
    if kind < 3:
        return (hostile(random, most=9), random.choice((0, -1, 10**18, 1.5, 1e308)), None)[kind]
    if kind < 6:
        return random.choice((True, False, float("nan"), float("inf"), "", "\\ud800"))
    inner = [_value(random, depth - 1) for _ in range(random.randint(0, 3))]
    return inner if kind == 6 else {hostile(random, most=3): value for value in inner}


def _misread(text: str) -> Iterator[str]:
    try:
        thought, actions = parse(text)
        for look in (partial_answer, closed, closing):
            look(text)
    except Exception as error:  # noqa: BLE001 - it is what must not happen
        yield f"{type(error).__name__} at {text!r:.200}"
        return
    whole = [action for action in actions if not isinstance(action, Malformed)]
    if not actions or len(whole) < len(actions) - 1:
        yield f"no Action, or several that are none, in {text!r:.200}"
    if len(whole) == len(actions):
        if parse(written(thought, *whole)) != (thought, actions):
            yield f"not the same when it is written again: {text!r:.200}"
        if any(not _is_json(action) for action in whole):
            yield f"arguments that are no JSON: {text!r:.200}"


def _is_json(action: Call | Finish) -> bool:
    try:
        json.dumps(action.arguments if isinstance(action, Call) else "", allow_nan=False)
    except ValueError:
        return False
    return True


def _templates(attempts: int, random: Random) -> Report:
    failures, slowest = list[str](), 0.0
    for _ in range(attempts):
        source, began = hostile_template(random), thread_time()
        failures += _misrendered(source)
        slowest = max(slowest, thread_time() - began)
    if slowest > _SLOW / 2:
        failures.append(f"a template took {slowest:.1f} s")
    return Report(attempts, failures, f"at most {slowest:.1f} s, of {_TEMPLATE_SECONDS} to render")


def _misrendered(source: str) -> Iterator[str]:
    try:
        chat = ChatTemplate(_rendering(source))
        chat.opening([Message("system", "s"), Message("user", "q")])
    except ModelError as error:
        if "\n" in str(error) or len(str(error)) > 400:
            yield f"a complaint of {len(str(error))} characters: {error!s:.80}"
    except Exception as error:  # noqa: BLE001 - it is what must not happen
        yield f"{type(error).__name__} at {source!r:.200}"


def _rendering(source: str) -> Callable[[list[dict[str, str]]], str]:
    def render(messages: list[dict[str, str]]) -> str:
        return Limited(_TEMPLATE_SECONDS).compiled(source)(messages=messages)

    return render


TRIALS: tuple[Trial, ...] = (
    Trial(
        "control-tokens",
        "marks of every family of models, whole and in halves, in untrusted text",
        _tokens,
        whole=1500,
        short=40,
    ),
    Trial(
        "quoted-text",
        "outside text that wants to leave its quote, or to pass for another source",
        _fence,
        whole=20_000,
        short=400,
    ),
    Trial(
        "parser",
        "any text as a reply: halves, depths, a megabyte; and what is written again",
        _parser,
        whole=4000,
        short=150,
    ),
    Trial(
        "chat-templates",
        "templates that want to hang the process or to fill the memory",
        _templates,
        whole=150,
        short=12,
    ),
    *hostile_runs.TRIALS,
)
