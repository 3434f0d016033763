"""The real vocabularies and templates of models, without their weights."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import llama_cpp
from common import names
from tiny_model import write_tiny_model

from local_react.backends.chat_template import ChatTemplate, Segment, chatml, jinja
from local_react.backends.llama.native import native_log
from local_react.backends.llama.vocabulary import Vocabulary
from local_react.catalog import resolve
from local_react.core import Message
from local_react.errors import ModelError

_MARKING = (
    llama_cpp.LLAMA_TOKEN_ATTR_CONTROL
    | llama_cpp.LLAMA_TOKEN_ATTR_UNKNOWN
    | llama_cpp.LLAMA_TOKEN_ATTR_USER_DEFINED
)

_TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>[INST]{{ m.content }}<|im_end|>\n{% endfor %}"
    "<|assistant|>"
)
"""Whose marks are a control token, a user-defined one, and plain letters."""


@dataclass(frozen=True, slots=True)
class Words:
    """A model's vocabulary, and its template."""

    name: str
    vocabulary: Vocabulary
    template: ChatTemplate

    def marking(self, token: int) -> str:
        """Return the text of a token that may mark something: control tokens, and those
        user-defined ones that look so; else nothing."""
        native = self.vocabulary.native
        attributes = llama_cpp.llama_vocab_get_attr(native, token)
        if not (attributes & _MARKING or llama_cpp.llama_vocab_is_eog(native, token)):
            return ""
        text = self.vocabulary.text_of([token])
        user_defined = attributes & llama_cpp.LLAMA_TOKEN_ATTR_USER_DEFINED
        return text if not user_defined or (text[:1] in "<[" and text[-1:] in ">]") else ""

    def prompt(self, *texts: str) -> list[Segment]:
        """Return the prompt of a chat whose messages are these, the instructions first."""
        system, question, *seen = texts
        opening = self.template.opening([Message("system", system), Message("user", question)])
        turns = [self.template.next_turn(Message("user", text)) for text in seen]
        return [*opening, *(segment for turn in turns for segment in turn)]


@contextmanager
def vocabularies() -> Iterator[list[Words]]:
    """Give those of the models that are here, and of a tiny one whose template marks its turns
    with a control token and with a user-defined one."""
    with TemporaryDirectory() as place:
        tiny = Path(place) / "tiny.gguf"
        write_tiny_model(tiny, template=_TEMPLATE, user_defined=["<|user|>", "<think>"])
        paths = [tiny, *_here()]
        models = [_loaded(path) for path in paths]
        try:
            yield [_words(path.name, model) for path, model in zip(paths, models, strict=True)]
        finally:
            for model in models:
                llama_cpp.llama_model_free(model)


def _here() -> list[Path]:
    try:
        return [resolve(name) for name in names(argparse.Namespace(model=None))]
    except ModelError:
        return []


def _loaded(path: Path) -> llama_cpp.llama_model_p:
    native_log()
    params = llama_cpp.llama_model_default_params()
    params.vocab_only = True
    model = llama_cpp.llama_model_load_from_file(os.fsencode(path), params)
    if not model:
        raise ModelError(f"{path.name} cannot be loaded")
    return model


def _words(name: str, model: llama_cpp.llama_model_p) -> Words:
    vocabulary = Vocabulary(model)
    source = llama_cpp.llama_model_chat_template(model, None)
    render = jinja(source.decode(), bos_token="", eos_token="") if source else chatml
    template = ChatTemplate(render)
    vocabulary.guard(template.own_text())
    return Words(name, vocabulary, template)
