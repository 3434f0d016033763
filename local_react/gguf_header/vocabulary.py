"""Whether the vocabulary of a GGUF file agrees with itself: llama.cpp aborts over some of
what is refused here, or takes another token than the one that is meant."""

from __future__ import annotations

from math import isnan

from local_react.gguf_header.contents import Contents, Listing
from local_react.gguf_header.pairs import STRING, TOKENS, senseless

_PREFIX = "tokenizer.ggml."
_NONE = (1 << 32) - 1
"""What stands for no token at all: -1, in 32 bits."""
_LONGEST_TOKEN = 65_535
_LONGEST_TEMPLATE = 1 << 20
TEMPLATE = "tokenizer.chat_template"


def check_vocabulary(contents: Contents) -> None:
    """Raise Unusable where the tokens, what is said of each, and the template do not fit
    together."""
    for key, value in contents.entries.items():
        if key.startswith(TEMPLATE) and isinstance(value, str) and len(value) > _LONGEST_TEMPLATE:
            senseless(f"a chat template of {len(value)} characters")
    listing = contents.entries.get(TOKENS)
    if listing is None:
        return
    if not isinstance(listing, Listing) or listing.kind != STRING or not listing.count:
        senseless("its vocabulary is no list of tokens")
    _check_tokens(listing.texts)
    for name in ("scores", "token_type"):
        _check_each(contents, name, listing.count)
    _check_ids(contents, listing.count)
    _check_merges(contents)


def _check_tokens(texts: tuple[bytes, ...]) -> None:
    """Raise Unusable where two tokens are the same to llama.cpp, which reads each up to a
    NUL, and gives one that is empty a name."""
    known: dict[bytes, int] = {}
    for number, text in enumerate(texts):
        if len(text) > _LONGEST_TOKEN:
            senseless(f"token {number} has {len(text)} bytes")
        token = text.partition(b"\0")[0] or b"[EMPTY_%d]" % number
        if (other := known.setdefault(token, number)) != number:
            senseless(f"tokens {other} and {number} are the same, {text[:40]!r}")


def _check_each(contents: Contents, name: str, tokens: int) -> None:
    """Raise Unusable where there is a list that holds not one number for each token."""
    listing = contents.entries.get(_PREFIX + name)
    if listing is None:
        return
    if not isinstance(listing, Listing) or listing.kind == STRING:
        senseless(f"its {name} are no list of numbers")
    if listing.count != tokens:
        senseless(f"{listing.count} {name} for {tokens} tokens")
    if any(map(isnan, listing.numbers())):
        senseless(f"its {name} are not all numbers")


def _check_ids(contents: Contents, tokens: int) -> None:
    for key, value in contents.entries.items():
        if not key.startswith(_PREFIX) or not key.endswith("_token_id"):
            continue
        number = contents.count(key)
        if number is None or (number not in (_NONE, -1) and not 0 <= number < tokens):
            senseless(f"{key} is {str(value)[:40]} of {tokens} tokens")


def _check_merges(contents: Contents) -> None:
    merges = contents.entries.get(f"{_PREFIX}merges")
    if merges is None:
        return
    if not isinstance(merges, Listing) or (merges.count and merges.kind != STRING):
        senseless("its merges are no list of texts")
    for number, merge in enumerate(merges.texts):
        if merge.find(b" ", 1) < 0:
            senseless(f"merge {number} is {merge[:40]!r}, which is not two parts")
