"""LlamaModel, a GGUF model in this process, and LlamaContext, a chat with it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import llama_cpp

from local_react.backends.chat_template import ChatTemplate, Segment, chatml, jinja
from local_react.backends.llama.context import LlamaContext
from local_react.backends.llama.decoding import Grammars
from local_react.backends.llama.desk import Desk
from local_react.backends.llama.engine import Engine
from local_react.backends.llama.evaluator import Evaluator, FlashAttention, Settings
from local_react.backends.llama.loading import (
    check_settings,
    checked_context_size,
    checked_memory,
    checked_threads,
    load,
    repacks_by_default,
    sequences_for,
    supports_gpu,
)
from local_react.backends.llama.native import check_process, is_forked, native_log
from local_react.backends.llama.replies import Reply, reply_of
from local_react.backends.llama.slots import Slots
from local_react.backends.llama.vocabulary import Vocabulary
from local_react.backends.llama.vouching import vouch
from local_react.backends.llama.warm_start import WarmStart
from local_react.cache_types import CacheType
from local_react.catalog import resolve
from local_react.core import Message, Request, Weighed
from local_react.errors import ContextFull, ModelError, UsageError, or_larger
from local_react.gguf_header import read_header
from local_react.prefix_cache import PrefixCache, prefix_dir
from local_react.profiles import load_profile

_TRIED = 4096
"""Tokens of context that a file is tried with."""
_THINKING = (("<think>", "</think>"), ("[THINK]", "[/THINK]"))
"""The marks between which a model thinks: Qwen's, DeepSeek's and LFM's, and Mistral's."""


class LlamaModel:
    """A GGUF model in this process, through llama.cpp.

    `model` is a name in the catalogue or a path to any GGUF file; `context_size` is
    in tokens; `threads` defaults to what was measured as best on this machine, else to
    its cores; `gpu_layers` counts the layers put on a GPU where the build has one (-1:
    all). `repack` has the weights laid out anew when they are loaded, which makes some
    machines faster. The cache's numbers are kept as `cache_type_k` and `cache_type_v`.
    With `warm_start`, what the model made of the messages that are the same in every run
    is kept on disk for the next process. A file that is neither the catalogue's nor `trusted`
    is tried in a process of its own first, once: native code may end the process over a
    damaged one. `verbose` lets the native library write to
    standard error.

    Raises ModelNotFound or ModelError, with the native library's own cause, where the
    model cannot be used, and UsageError where an option cannot.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        context_size: int | None = None,
        threads: int | None = None,
        gpu_layers: int = -1,
        repack: bool | None = None,
        flash_attention: FlashAttention = "auto",
        cache_type_k: CacheType = "f16",
        cache_type_v: CacheType = "f16",
        warm_start: bool = True,
        trusted: bool = False,
        verbose: bool = False,
    ) -> None:
        check_process()
        self.path = resolve(model)
        self.name = self.path.name if Path(model).name == self.path.name else str(model)
        started = perf_counter()
        profile = load_profile(self.path.name)
        self.threads = checked_threads(threads, profile.threads)
        measured = repacks_by_default() if profile.repack is None else profile.repack
        self.repack = measured if repack is None else repack
        header = read_header(self.path)
        self.context_size = checked_context_size(header.context_length, self.name, context_size)
        self.longest_context = header.context_length
        settings = Settings(
            self.context_size, self.threads, flash_attention, cache_type_k, cache_type_v
        )
        check_settings(settings)
        self.memory = checked_memory(self.path, header, self.name, settings)
        if not trusted:
            options = {
                "context_size": min(self.context_size, _TRIED),
                "threads": self.threads,
                "gpu_layers": gpu_layers,
                "repack": self.repack,
                "flash_attention": flash_attention,
                "cache_type_k": cache_type_k,
                "cache_type_v": cache_type_v,
            }
            vouch(self.path, self.memory.total, options, remember=warm_start)
        native_log().verbose = verbose
        self._model = load(self.path, gpu_layers=gpu_layers, repack=self.repack)
        self.lock = threading.RLock()
        self.desk = Desk()
        self.vocabulary = Vocabulary(self._model)
        self.grammars = Grammars(self.vocabulary)
        sequences = sequences_for(self._model)
        self.most_replies = sequences - 2
        try:
            self._evaluator = Evaluator(self._model, settings, sequences)
        except BaseException:
            llama_cpp.llama_model_free(self._model)
            raise
        kept = None
        if warm_start and (directory := prefix_dir()):
            layout = f"repack {self.repack}, GPU layers {gpu_layers if supports_gpu() else 0}"
            kept = WarmStart(PrefixCache(directory), self.path, settings, layout)
        self.engine = Engine(
            self._evaluator, Slots(self._evaluator, sequences), kept, self.or_larger
        )
        # Called by `close`, or when nobody has the model any more.
        self._free = weakref.finalize(self, _free, self.grammars, self._evaluator, self._model)
        self._free.atexit = False  # the process gives it all back at once
        source = llama_cpp.llama_model_chat_template(self._model, None)
        self._template_source = None if source is None else source.decode("utf-8", "replace")
        self.load_seconds = perf_counter() - started

    def __repr__(self) -> str:
        return f"LlamaModel({self.name!r}, context_size={self.context_size})"

    def close(self) -> None:
        """Free the memory of the model, which cannot be used afterwards."""
        if is_forked():  # the memory is that of another process
            return
        with self.desk.visit(self):
            self._model = None
            self.vocabulary.close()
            self._free()

    def check_open(self) -> None:
        """Raise ModelError after `close`: the native memory is gone then. Also where this
        process was forked from the one that has the model."""
        check_process()
        if self._model is None:
            raise ModelError(f"the model {self.name} is closed: load it again")

    def __enter__(self) -> LlamaModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(
        self,
        messages: Sequence[Message],
        *,
        fixed: bool = False,
        cancel: threading.Event | None = None,
    ) -> LlamaContext:
        """Return a context that holds the messages and opens a reply.

        Raises ContextFull where they don't fit.
        """
        self.check_open()
        segments = self.template.opening(messages)
        shared = self._tokens(segments[:-2])
        tokens = shared + self.vocabulary.tokens_of(segments[-2:])
        if len(tokens) >= self.context_size:
            raise ContextFull(
                f"the text is {len(tokens)} tokens and the context holds "
                f"{self.context_size}: shorten it{self.or_larger}"
            )
        return LlamaContext(self, tokens, fixed=len(shared) if fixed else 0, cancel=cancel)

    @property
    def or_larger(self) -> str:
        """The advice to give a larger context, where the model can have one."""
        return or_larger(self.context_size, self.longest_context)

    def weigh(
        self,
        messages: Sequence[Message],
        options: Sequence[str],
        *,
        cancel: threading.Event | None = None,
    ) -> Weighed:
        """Return how likely the first token of each text is as a reply's beginning.

        Raises ContextFull where the messages don't fit.
        """
        context = self.start(messages, fixed=True, cancel=cancel)
        return Weighed(context.weigh(options), context.usage)

    def generate_many(self, requests: Sequence[Request]) -> Iterator[tuple[int, str]]:
        """Yield the replies to many requests, written at the same time: pairs of the
        request's number and a piece of its reply.

        Raises UsageError where two of them share a context, and GrammarError, before a
        token is chosen.
        """

        def begun() -> Iterator[Reply]:
            self.check_open()
            if len({request.context for request in requests}) < len(requests):
                raise UsageError("two requests share a context: fork it")
            for number, request in enumerate(requests):
                yield self._reply(request, number)

        return self.desk.pieces(self, begun)

    def _reply(self, request: Request, number: int) -> Reply:
        context = request.context
        if not isinstance(context, LlamaContext) or context.model is not self:
            raise UsageError("a request is for a context of another model: ask that one")
        return reply_of(
            context, request.grammar, request.sampling, number=number, most=request.most
        )

    @property
    def native_context(self) -> Any:
        """The native context, for measurements."""
        return self._evaluator.native

    def count(self, text: str) -> int:
        """Return how many tokens the text is."""
        self.check_open()
        return len(self.vocabulary.tokenize(text))

    def check(self, grammar: str) -> None:
        """Raise GrammarError where the grammar does not compile."""
        self.check_open()
        self.grammars.compile(grammar)

    def prompt(self, messages: Sequence[Message]) -> str:
        """Return the text that the model reads for these messages, with its control
        tokens."""
        return self.vocabulary.text_of(self._tokens(self.template.opening(messages)))

    @property
    def has_template(self) -> bool:
        """False where the file brings no chat template and ChatML stands in."""
        return self._template_source is not None

    @cached_property
    def template(self) -> ChatTemplate:
        """The model's own chat template."""
        source, words = self._template_source, self.vocabulary
        bos, eos = (words.text_of([token]) for token in (words.bos, words.eos))
        render = chatml if source is None else jinja(source, bos_token=bos, eos_token=eos)
        template = ChatTemplate(render)
        words.guard(template.own_text())
        return template

    @cached_property
    def thinking_marks(self) -> tuple[str, str] | None:
        """The marks between which the model thinks, where its template knows of such,
        each of them one token."""
        for marks in _THINKING:
            tokens = [self.vocabulary.tokenize(mark, trusted=True) for mark in marks]
            if marks[1] in (self._template_source or "") and all(
                len(token) == 1 for token in tokens
            ):
                return marks
        return None

    def _tokens(self, segments: Sequence[Segment]) -> list[int]:
        """Return the tokens of a prompt's beginning."""
        tokens = self.vocabulary.tokens_of(segments)
        # Exactly one begin-of-text token, whether the template writes it or not.
        wanted = self.vocabulary.adds_bos and tokens[:1] != [self.vocabulary.bos]
        return [self.vocabulary.bos, *tokens] if wanted else tokens


def _free(grammars: Grammars, evaluator: Evaluator, model: Any) -> None:
    """Free what a model holds, in this order."""
    if is_forked():
        return
    grammars.close()
    evaluator.close()
    llama_cpp.llama_model_free(model)
