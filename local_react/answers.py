"""What kind of answer a question asks for, and when two answers say the same.

The kind is read from the words of the question, in English: where they do not tell it, it
is a text, of which nothing is asked. Numbers are compared as GSM8K does (Cobbe et al.,
2021), words as SQuAD and HotpotQA do: in small letters, without marks and articles.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["number", "yes or no", "short", "text"]

_WISH: Final = re.compile(
    r"\b(?:as few words as possible|(?:answer|name|number|word|date|year|place) (?:alone|only)"
    r"|only the (?:answer|name|number|word|date|year)|one word|single word)\b",
    re.IGNORECASE,
)
_YES_OR_NO: Final = re.compile(
    r"\banswer (?:only |just )?(?:with )?(?:a )?['\"]?yes['\"]? or ['\"]?no\b", re.I
)
_ASKS_YES_OR_NO: Final = re.compile(
    r"(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|may|must)"
    r"(?:n't)? (?!que\b)\w",
    re.IGNORECASE,
)
_ASKS_A_FAVOUR: Final = re.compile(
    r"(?:can|could|will|would) you (?:please|kindly|tell|give|explain|help|show|list|name|write"
    r"|describe|calculate|compute|provide|say|summari[sz]e|translate|recommend|suggest|compare"
    r"|convert|look|check|find (?:me|out|the)|search|get|create|generate|make|book|order|remind)\b"
    r"|do you (?:know|have|think|remember)\b|(?:can|could|may) i (?:ask|have|get|know)\b",
    re.IGNORECASE,
)
"""As "Can you tell me who ...", which yes does not answer."""
_CONDITION: Final = re.compile(
    r"(?:if|given|suppose|assuming|since|because|when|while|during|for|with|without|in|on|at|by"
    r"|as|after|before|until|according|among|of|(?:al)?though|despite)\b",
    re.IGNORECASE,
)
"""How a clause begins that may stand before a question."""
_FOREIGN: Final = re.compile(
    r"\b(?:ist|sind|waren|der|das|ein|eine|und|nicht|kostet|macht|het|een|zijn|niet|que)\b"
    r"|^was (?:war|hat|ich|du|er|sie|es|wir|ihr)\b",
    re.IGNORECASE,
)
"""Words of languages in which a question may begin as an English one does."""
_ASKS_A_CHOICE: Final = re.compile(r"\bor\b", re.IGNORECASE)
_NUMBERS_OF: Final = (
    r"(?:[\w'’-]+ ){0,3}(?:sum|total|difference|product|average|mean|median|number(?! one\b)"
    r"|amount|cost|price|profit|percentage|percent|ratio|probability|area|perimeter"
    r"|circumference|volume|distance|speed|age|weight|height|length|width|depth|value|bill)\b"
)
"""What a number tells, with the words before it."""
_BIDS: Final = re.compile(
    rf"\b(?:calculate|compute|determine|find|work out|figure out) (?:out )?{_NUMBERS_OF}",
    re.IGNORECASE,
)
"""As "..., calculate the total amount that they are paid." """
_ASKS_A_NUMBER: Final = re.compile(
    r"\bhow (?:many|much|old|far|long|tall|high|deep|wide|heavy|fast|big|large)\b"
    rf"|\bwhat(?: is| was| are| were| will be| would be|['’]s) {_NUMBERS_OF}"
    rf"|{_BIDS.pattern}"
    r"|\bwhat (?:percentage|percent|fraction|number|amount) of\b"
    r"|\bwhat(?: is|['’]s) [\d(.$€£-]"
    r"|^(?=[-(.$€£]*\d)(?:[\s\d.,()+*/^%$€£=×÷−-]|of|plus|minus|times|divided|multiplied|by)+\?$",
    re.IGNORECASE,
)
_SPEAKS_OF_NONE: Final = re.compile(
    r"\bhow (?:much|long|far|big) (?:do|does|did|can|could|would|will)(?: \w+){1,3}"
    r" (?:know|matter|care|like|love|help)\b",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+)?|[-−]?\.\d+")
_REFERENCE: Final = re.compile(r"\s*\[\d+(?:\s*[-–,;]\s*\d+)*\]")
_ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")
_UNMARKED: Final = str.maketrans("", "", string.punctuation)
_SENTENCE_END: Final = re.compile(
    r"(?<=\?)|\n|(?<=[.!])(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bvs\.)"
    r"(?<!\b[A-Z]\.)(?<!\b[ap]\.m\.)\s",
)
_LONGEST: Final = 4000
"""Characters at the end of what is asked in which the question is looked for."""


ATTACHED: Final = "\n\nText:\n"
"""What parts a question from a text that was attached to it."""


def asked_in(question: str) -> str:
    """Return what is asked, without the text that is attached."""
    return question.partition(ATTACHED)[0]


def kind_of(question: str) -> Kind:
    """Return the kind of answer that a question asks for."""
    question = asked_in(question)
    if _YES_OR_NO.search(question):
        return "yes or no"
    asked = _questions(question) or _bids(question)
    if len(asked) == 1:  # several questions want several answers
        if _ASKS_A_NUMBER.search(asked[0]) and not _SPEAKS_OF_NONE.search(asked[0]):
            return "number" if not re.search(r"\band (?:wh|how)", asked[0], re.I) else "text"
        if _asks_yes_or_no(asked[0]):
            return "yes or no"
    return "short" if _WISH.search(question) else "text"


def _questions(text: str) -> list[str]:
    """Return the sentences that end with a question mark."""
    sentences = [part.strip(" \t\"'“”") for part in _SENTENCE_END.split(text[-_LONGEST:])]
    return [sentence for sentence in sentences if sentence.endswith("?")]


def _bids(text: str) -> list[str]:
    """Return the sentences that bid to work out a number."""
    return [part for part in _SENTENCE_END.split(text[-_LONGEST:]) if _BIDS.search(part)]


def _asks_yes_or_no(question: str) -> bool:
    """Return whether a question, or its last clause behind a condition, wants yes or no."""
    clause = question
    if _CONDITION.match(question):
        clause = re.split(r",\s*(?!\d)", question)[-1].strip()
    if _ASKS_A_CHOICE.search(clause) or _ASKS_A_FAVOUR.match(clause) or _FOREIGN.search(clause):
        return False
    return _ASKS_YES_OR_NO.match(clause) is not None


def number_in(answer: str) -> Fraction | None:
    """Return the number that an answer gives: the only one in it, or else the first, since
    what follows explains it, but what a sum comes to. None where there is none."""
    found = _NUMBER.findall(_REFERENCE.sub("", answer).rpartition("=")[2])
    if not found:
        return None
    text = found[0].replace(",", "").replace("−", "-").replace(" ", "")
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def normal(answer: str) -> str:
    """Return an answer as it is compared, by the rules of HotpotQA's own evaluation: in
    small letters, without ASCII punctuation, without articles, single spaces."""
    bare = answer.lower().translate(_UNMARKED)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def without_references(answer: str) -> str:
    """Return an answer without the numbers of its sources, unless it is nothing else."""
    return _REFERENCE.sub("", answer).strip() or answer


def meaning(answer: str, kind: Kind) -> str | None:
    """Return what two answers of this kind have in common where they say the same; None
    where an answer says nothing that could be compared."""
    if kind == "number":
        number = number_in(answer)
        return None if number is None else _told(number)
    words = normal(_REFERENCE.sub("", answer))
    if kind == "yes or no":
        first = words.split(" ", 1)[0]
        return first if first in ("yes", "no") else None
    return words or None


def _told(number: Fraction) -> str:
    """Return a number as it is compared: a large one to the unit, else six figures."""
    return str(round(number)) if abs(number) >= _LARGE else f"{float(number):.6g}"


_LARGE: Final = 10**6


def most_common(meanings: Sequence[str | None]) -> tuple[str | None, int]:
    """Return the meaning that most share, the earliest of those that share a first place,
    and by how many."""
    said = [one for one in meanings if one is not None]
    if not said:
        return None, 0
    best = max(said, key=said.count)
    return best, said.count(best)
