"""A chat template is a program of somebody else's: it renders as it should, or is stopped."""

from __future__ import annotations

from typing import Any

import pytest
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from local_react.backends.chat_template import ChatTemplate, jinja
from local_react.backends.template_limits import Limited
from local_react.core import Message
from local_react.errors import ModelError

CHAT = [
    {"role": "system", "content": "S"},
    {"role": "user", "content": "U"},
    {"role": "assistant", "content": "A"},
    {"role": "user", "content": "Q"},
]
GROWTH = "{% set ns = namespace(x='ab') %}{% for i in range(70) %}STEP{% endfor %}{{ ns.x|length }}"


def rendered(source: str, seconds: float = 0.2, **values: Any) -> str:
    return Limited(seconds).compiled(source)(messages=CHAT, **values)


@pytest.mark.parametrize(
    "source",
    [
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m['content'] | trim }}<|im_end|>\n"
        "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
        "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} "
        "[/INST]{% elif m.role == 'system' %}{% continue %}{% else %}{{ m.content ~ eos_token }}"
        "{% endif %}{% endfor %}",
        "{%- macro turn(m) -%}<{{ m.role|upper }}>{{ m.content }}\n{%- endmacro -%}\n"
        "{%- for m in messages[1:] %}\n  {{ turn(m) }}{{ loop.index0 }}{{ loop.last }}"
        "{%- if not loop.first %}{{ loop.previtem.role }}{% endif %}\n{%- endfor %}",
        "{% set ns = namespace(last=-1, all='') %}{% for m in messages %}{% if m.role == 'user' %}"
        "{% set ns.last = loop.index0 %}{% endif %}{% set ns.all = ns.all + m.content %}"
        "{% endfor %}"
        "{{ ns.last }}{{ ns.all.split('A')[0] }}{{ messages|map(attribute='role')|join(', ') }}",
        "{% generation %}{{ messages[0].content }}{% endgeneration %}{{ tools is none }}"
        "{{ (messages|selectattr('role', 'equalto', 'user')|list)[0].content }}",
        "{{ {'a': [1, 'é'], 'b': messages[0]}|tojson(indent=2) }}{{ '%s|%02d' % ('x', 7) }}"
        "{{ ', '.join(['a', 'b']) }}{{ '{:>4}'.format('x') }}{{ 'ab' * 3 }}{{ 7 // 2 ** 2 }}",
        "{% for key, value in messages[0].items() %}{{ key }}={{ value }}{% break %}{% endfor %}"
        "{% set a, b = 1, [2, (3, 4)] %}{{ a }}{{ b }}{% set c %}x{{ a }}{% endset %}{{ c }}",
    ],
)
def test_an_honest_template_is_rendered_as_elsewhere(source: str) -> None:
    render = jinja(source, bos_token="<s>", eos_token="</s>")
    other = Jinja2ChatFormatter(template=source, bos_token="<s>", eos_token="</s>")
    told: Any = CHAT
    assert render(CHAT) == other(messages=told, enable_thinking=False).prompt


@pytest.mark.parametrize(
    "source",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% set r = range(99999) %}{% for i in r %}{% for j in r if i %}{% endfor %}{% endfor %}",
        "{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}{% endmacro %}{{ m(90) }}",
        "{% for i in range(99999) %}" + "{% if ['a'] == ['b'] %}{% endif %}" * 99 + "{% endfor %}",
    ],
)
def test_a_template_without_an_end_is_stopped(source: str) -> None:
    with pytest.raises(ValueError, match="too long"):
        rendered(source)


@pytest.mark.parametrize(
    "step",
    [
        "{% set ns.x = ns.x ~ ns.x %}",
        "{% set ns.x = ns.x + ns.x %}",
        "{% set ns.x = [ns.x, ns.x] %}",
        "{% set ns.x = (ns.x, ns.x) %}",
        "{% set ns.x = {'a': ns.x, 'b': ns.x} %}",
        "{% set ns.x = dict(a=ns.x, b=ns.x) %}",
        "{% set ns.x = [ns.x, ns.x]|join %}",
        "{% set ns.x = ns.x|replace('a', 'aa') * 2 %}",
        "{% set y %}{{ ns.x }}{{ ns.x }}{% endset %}{% set ns.x = y %}",
    ],
)
def test_what_doubles_again_and_again_is_stopped(step: str) -> None:
    with pytest.raises(ValueError, match="too large"):
        rendered(GROWTH.replace("STEP", step))


@pytest.mark.parametrize(
    "told",
    [
        *("'a' * 10 ** 12", "[1] * 10 ** 9", "10 ** (10 ** 10)", "2 ** 99999", "range(10 ** 9)"),
        *("'a'|center(10 ** 9)", "'a'.center(10 ** 9)", "'a'.zfill(10 ** 9)"),
        *("'%1000000000d' % 1", "'%*d' % (10 ** 9, 1)", "'{:1000000000}'.format(1)"),
        *("'{:{}}'.format(1, 10 ** 9)", "'%1000000000d'|format(1)", "1|round(10 ** 9)"),
        *("'{a:1000000000}'.format_map({'a': 1})", "(1).to_bytes(10 ** 9, 'big')"),
        *("b.replace('a', b)", "b|replace('a', b)", "range(99999)|join(b)", "b.join(b)"),
        *("b.translate({97: b})", "b.expandtabs(10 ** 9)", "b|wordwrap(1, true, b)"),
        *("'abc'|batch(10 ** 9, 'x')|list", "'abc'|slice(10 ** 9)|list"),
        "[[1]]|tojson(indent=10 ** 9)",
    ],
)
def test_nothing_grows_beyond_its_bounds_at_once(told: str) -> None:
    with pytest.raises(ValueError, match=r"too large|too wide"):
        rendered("{% set b = 'a' * 99999 %}{{ " + told + " }}")


@pytest.mark.parametrize(
    "source",
    [
        "{% for i in range(9999) %}TEXT{% endfor %}",
        "{% set y %}{% for i in range(9999) %}TEXT{% endfor %}{% endset %}",
        "{% macro m() %}{% for i in range(9999) %}TEXT{% endfor %}{% endmacro %}{{ m() }}",
        "{% set b = 'b' * 99999 %}" + "{{ b }}" * 20,
    ],
)
def test_what_is_written_is_bounded_wherever_it_is_kept(source: str) -> None:
    with pytest.raises(ValueError, match="without an end"):
        rendered(source.replace("TEXT", "x" * 9000), seconds=2)


def test_values_that_hold_each_other_are_told_once() -> None:
    doubled = "{% set b = namespace(x=a, y=a) %}{% set a = b %}"
    assert rendered("{% set a = namespace(x=1) %}" + doubled * 60 + "{{ a }}") == "<namespace>"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x" * 200_000, "200,000 characters"),
        ("{{ " + "(" * 20_000 + "1" + ")" * 20_000 + " }}", "recursion"),
        ("{% if 1 %}" + "{% elif 2 %}" * 8000 + "{% endif %}", "MemoryError|recursion|nested"),
        ("{% for m in messages recursive %}{{ loop([1]) }}{% endfor %}", "recursive loop"),
        ("{% for m in messages %}", "endfor"),
        ("{{ raise_exception('no\n\x1b[2J ' * 900) }}", "no \x1b"),
        ("{% include '/etc/passwd' %}", "loader"),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
    ],
)
def test_a_template_that_cannot_be_used_is_told_in_one_short_line(source: str, reason: str) -> None:
    with pytest.raises(ModelError, match=reason) as refused:
        chat = ChatTemplate(jinja(source, bos_token="", eos_token=""))
        chat.opening([Message("user", "q")])
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 350


def test_a_template_without_a_generation_prompt_is_used_as_it_is() -> None:
    chat = ChatTemplate(jinja("{{ messages[0].content }}!", bos_token="", eos_token=""))
    assert [part.text for part in chat.opening([Message("user", "q")])] == ["", "q", "!"]
