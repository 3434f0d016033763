"""Chat templates that want to hang the process or to fill its memory, by what they go about it."""

from __future__ import annotations

from random import Random
from typing import Final

_LOOPS: Final = (
    "{{% for i in range({n}) %}}{{% for j in range({n}) %}}{body}{{% endfor %}}{{% endfor %}}",
    "{{% set r = range({n}) %}}{{% for i in r %}}{{% for j in r if j %}}{body}{{% endfor %}}"
    "{{% endfor %}}",
    "{{% for i in range(10 ** 9) %}}{body}{{% endfor %}}",
    "{{% macro m(n) %}}{{% if n %}}{{{{ m(n - 1) }}}}{{{{ m(n - 1) }}}}{{% endif %}}"
    "{{% endmacro %}}{{{{ m(90) }}}}{body}",
    "{{% for i in [[1]] recursive %}}{{{{ loop([1, 1]) }}}}{body}{{% endfor %}}",
    "{{% set c = cycler(1, 2) %}}{{% for i in range({n}) %}}{{% for j in range({n}) %}}"
    "{{{{ c.next() }}}}{body}{{% endfor %}}{{% endfor %}}",
)
_GROWTH: Final = (
    "ns.x ~ ns.x",
    "ns.x + ns.x",
    "[ns.x, ns.x]",
    "(ns.x, ns.x)",
    "{'a': ns.x, 'b': ns.x}",
    "dict(a=ns.x, b=ns.x)",
    "[ns.x, ns.x]|list",
    "ns.x|string ~ ns.x",
    "namespace(a=ns.x, b=ns.x)",
    "ns.x * 2",
    "[ns.x, ns.x]|join",
    "ns.x|string|replace('a', 'aa')",
)
_AT_ONCE: Final = (
    *("'a' * {n}", "[1] * {n}", "{n} ** {n} ** 9", "'a'|center({n})", "'a'.center({n})"),
    *(
        "'a'.zfill({n})",
        "'%{n}d' % 1",
        "'%*d' % ({n}, 1)",
        "'{{:{n}}}'.format(1)",
        "'\t'.expandtabs({n})",
    ),
    *("'{{:{{}}}}'.format(1, {n})", "'%{n}d'|format(1)", "'{{a:{n}}}'.format_map({{'a': 1}})"),
    *(
        "'a'|indent({n}, true)",
        "[[1]]|tojson(indent={n})",
        "1|round({n})",
        "(1).to_bytes({n}, 'big')",
    ),
    *("'abc'|slice({n})|list", "'abc'|batch({n}, 'x')|list", "lipsum(n={n})", "range({n})|list"),
    *(
        "b.replace('a', b)",
        "b|replace('a', b)",
        "range(99999)|join(b)",
        "b.join(b)",
        "b|wordwrap(1, true, b)",
    ),
    *("b.translate({{97: b}})", "b|indent(b)", "b|list|map('replace', 'a', b)|join"),
)
_NUMBERS: Final = (99_999, 2_000_000_000, 10**12, 10**18)
_DEEP: Final = (
    ("{{ " + "(" * 9000, "1", ")" * 9000 + " }}"),
    ("{{ a", ".b" * 30_000, " }}"),
    ("{{ 1", "+1" * 30_000, " }}"),
    ("{% if 1 %}", "{% elif 2 %}" * 8000, "{% endif %}"),
    ("{% for a in [1] %}" * 3000, "x", "{% endfor %}" * 3000),
    ("{{ 'a'", "|trim" * 20_000, " }}"),
    ("{{ 'a'", "~'a'" * 20_000, " }}"),
    ("", "{#" * 50_000, ""),
    ("", "x" * (1 << 20), ""),
    ("{{ ", "9" * 100_000, " }}"),
    ("", "{{ raise_exception('no\n\x1b[2J' * 9000) }}", ""),
    ("", "{% include '/etc/passwd' %}", ""),
    ("", "{{ messages.__class__.__mro__[1].__subclasses__() }}", ""),
)


def hostile_template(random: Random) -> str:
    """Return the source of a template."""
    kind = random.randrange(5)
    if kind == 0:
        loop, body = random.choice(_LOOPS), random.choice(("", "x", "{{ i }}", "x" * 9000))
        return loop.format(n=random.choice((9999, 99_999)), body=body)
    if kind == 1:
        start, step = random.choice(("'ab'", "['ab']", "3")), random.choice(_GROWTH)
        told = random.choice(
            ("ns.x", "ns.x|string|length", "ns.x == ns.x", "{ns.x: 1}", "ns.x|tojson")
        )
        return (
            f"{{% set ns = namespace(x={start}) %}}{{% for i in range(70) %}}"
            f"{{% set ns.x = {step} %}}{{% endfor %}}{{{{ {told} }}}}"
        )
    if kind == 2:
        text = random.choice(_AT_ONCE).format(n=random.choice(_NUMBERS))
        return f"{{% set b = 'a' * 99999 %}}{{{{ {text} }}}}"
    if kind == 3:
        kept = "{% set y %}{{ ns.x }}{{ ns.x }}{% endset %}{% set ns.x = y %}"
        return "{% set ns = namespace(x='ab') %}{% for i in range(70) %}" + kept + "{% endfor %}"
    return "".join(random.choice(_DEEP))
