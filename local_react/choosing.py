"""Which of the tools fit a question, from its words alone.

One list of tools for everything costs a small model its reasoning: with six tools and three
examples it solved 10 of 32 word problems, with a prompt made for them 18
(shared/facts/small_model_lab.md). So a question that brings its own numbers is put to it with what
computes alone, and with the user's own tools, of which nobody knows what they are for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from local_react.answers import asked_in, kind_of
from local_react.core import Call, Message

if TYPE_CHECKING:
    from local_react.tools.base import AnyTool

_LONGEST: Final = 2000
"""Characters of a question that may be a problem to reckon: a longer one is a text."""
_LONGEST_OFFERED: Final = 400
"""Characters of a question for which tools offer a first call: a longer one brings its
text with it."""
_NUMBERS: Final = re.compile(
    r"\d[\d,.]*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty"
    r"|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|dozen|half|twice"
    r"|double|triple|quarter|thirds?)\b",
    re.IGNORECASE,
)
_MONTH: Final = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
)
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:1\d|20)\d\d(?!\d|-\d\d-)"
_DATES: Final = re.compile(
    rf"\b{_MONTH} {_DAY}(?:,? {_YEAR})?\b|\b{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?\b"
    rf"|\b{_MONTH} {_YEAR}\b|\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}/\d{{1,2}}/\d{{4}}\b"
    rf"|\b(?i:in|since|from|between|during|by|until|before|after|year) {_YEAR}"
    rf"(?: ?(?:and|to|or|-|–) ?{_YEAR})?\b(?! \w+s\b)"
)
"""Days and years, which are no amounts, but not "in 2000 steps"."""


Offered: TypeAlias = tuple[str, Call]
"""A Thought, and the call it leads to."""


def is_reckoning(question: str) -> bool:
    """Return whether a question asks for a number and brings those it is made of."""
    asked = asked_in(question)
    if len(asked) > _LONGEST or kind_of(asked) != "number":
        return False
    return len(_NUMBERS.findall(_DATES.sub("", asked))) >= 2


def refers_back(question: str) -> bool:
    """Return whether a question speaks of what was said before it: "And in euros?"."""
    first = re.split(r"(?<=[.!?])\s", question.strip(), maxsplit=1)[0]
    return _GOES_ON.match(first) is not None or _STANDS_FOR.search(first) is not None


_GOES_ON: Final = re.compile(
    r"(?:and|but|so|or|then|also|now|instead|(?:what|how) about|what if|why)\b", re.IGNORECASE
)
_STANDS_FOR: Final = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|he|him|his|she|her|hers|there|then"
    r"|the same|the (?:first|second|third|last|other|latter|former|result|answer|total|previous)"
    r"|previous(?:ly)?|earlier|before|above|again|more|instead|my|our)\b",
    re.IGNORECASE,
)
"""Words that stand for something said before, in the first sentence of a question."""


def asks_to_write(question: str) -> bool:
    """Return whether a text is asked for that the model is to make itself: "Write a poem ..."."""
    return _WRITES.match(asked_in(question).strip()) is not None


_WRITES: Final = re.compile(
    r"(?:please |(?:can|could|would) you (?:please )?)?(?:write|compose|draft|rewrite|rephrase"
    r"|paraphrase|proofread|shorten|summari[sz]e|translate|imagine|invent|make up|come up with"
    r"|tell (?:me |us )?an? (?:\w+ )?(?:joke|story|tale|riddle|poem|rhyme))\b",
    re.IGNORECASE,
)


def fitting(tools: Sequence[AnyTool], question: str) -> list[AnyTool]:
    """Return the tools that are of use for a question, in their order. Where one has something
    to say to it already, those stay that bring text from outside, too."""
    if is_reckoning(question):
        return [tool for tool in tools if _suits(tool, question)]
    if first_offer(tools, question) is None:
        return list(tools)
    return [tool for tool in tools if tool.brings_outside_text or _suits(tool, question)]


def first_offer(tools: Sequence[AnyTool], question: str) -> Offered | None:
    """Return the Thought and the call of the first tool that has something to say to a
    question."""
    if len(question) > _LONGEST_OFFERED:
        return None
    for tool in tools:
        if tool.offer and (arguments := tool.offer(question)) is not None:
            return tool.offered, Call(tool.name, arguments)
    return None


def is_computed(tools: Sequence[AnyTool], question: str) -> bool:
    """Return whether a tool that only computes can do so with the question as it stands:
    then the answer is sure."""
    offered = first_offer(tools, question)
    return offered is not None and any(
        tool.name == offered[1].tool and not tool.may for tool in tools
    )


def _suits(tool: AnyTool, question: str) -> bool:
    return tool.suits is None or tool.suits(question)


def choice(tools: Sequence[AnyTool], question: str) -> list[Message]:
    """Return the messages that ask whether one of the tools does what is asked, to be
    answered by yes or no (`YES_OR_NO`)."""
    listed = "\n".join(
        f"- {tool.name}({', '.join(_names(tool))}): {tool.description}" for tool in tools
    )
    return [
        Message("system", f"Functions:\n{listed}"),
        Message("user", f"Request: {question}\n\n{_CHOICE}"),
    ]


YES_OR_NO = ("yes", "Yes", "no", "No")
_CHOICE = "Is there a function in the list that does exactly what is requested? Answer yes or no."


def _names(tool: AnyTool) -> list[str]:
    return list(tool.schema.get("properties", {}))
