"""LlamaModel, a GGUF model in this process, and LlamaContext, a chat with it."""

from __future__ import annotations

import codecs
import ctypes
import os
import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import llama_cpp
import psutil

from local_react.backends.chat_template import ChatTemplate, chatml
from local_react.backends.llama.decoding import Grammars, Picker
from local_react.backends.llama.evaluator import Evaluator
from local_react.backends.llama.native import cause, interruptible, native_log
from local_react.backends.llama.vocabulary import Vocabulary
from local_react.catalog import resolve
from local_react.core import Message, Sampling, Usage
from local_react.errors import ContextFull, ModelError, UsageError

DEFAULT_CONTEXT = 8192
"""Tokens of context, capped by what the model was trained for."""

_SMALLEST_CONTEXT = 256


class LlamaModel:
    """A GGUF model in this process, through llama.cpp.

    `model` is a name in the catalogue or a path to any GGUF file; `context_size` is
    in tokens; `threads` defaults to the CPUs that this process may use; `gpu_layers`
    counts the layers put on a GPU where the build has one (-1: all). `verbose` lets
    the native library write to standard error.

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
        verbose: bool = False,
    ) -> None:
        self.path = resolve(model)
        self.name = self.path.name if Path(model).name == self.path.name else str(model)
        self.threads = _checked_threads(threads)
        native_log().verbose = verbose
        self._model = _load(self.path, gpu_layers)
        self.lock = threading.RLock()
        self.vocabulary = Vocabulary(self._model)
        self.grammars = Grammars(self.vocabulary)
        self.context_size = self._checked_context(context_size)
        self.evaluator = Evaluator(self._model, self.context_size, self.threads)

    def __repr__(self) -> str:
        return f"LlamaModel({self.name!r}, context_size={self.context_size})"

    def close(self) -> None:
        """Free the memory of the model, which cannot be used afterwards."""
        with self.lock:
            self.grammars.close()
            self.evaluator.close()
            if self._model:
                llama_cpp.llama_model_free(self._model)
                self._model = None

    def check_open(self) -> None:
        """Raise ModelError after `close`: the native memory is gone then."""
        if self._model is None:
            raise ModelError(f"the model {self.name} is closed: load it again")

    def __enter__(self) -> LlamaModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, messages: Sequence[Message]) -> LlamaContext:
        """Return a context that holds the messages and opens a reply.

        Raises ContextFull where they don't fit.
        """
        self.check_open()
        tokens = self._opening(messages)
        if len(tokens) >= self.context_size:
            raise ContextFull(
                f"the text is {len(tokens)} tokens and the context holds "
                f"{self.context_size}: shorten it, or give a larger --ctx-size"
            )
        return LlamaContext(self, tokens)

    def count(self, text: str) -> int:
        """Return how many tokens the text is."""
        self.check_open()
        return len(self.vocabulary.tokenize(text))

    def check(self, grammar: str) -> None:
        """Raise GrammarError where the grammar does not compile."""
        self.check_open()
        with self.lock:
            self.grammars.compile(grammar)

    def prompt(self, messages: Sequence[Message]) -> str:
        """Return the text that the model reads for these messages, with its control
        tokens."""
        return self.vocabulary.text_of(self._opening(messages))

    @cached_property
    def has_template(self) -> bool:
        """False where the file brings no chat template and ChatML stands in."""
        return llama_cpp.llama_model_chat_template(self._model, None) is not None

    @cached_property
    def template(self) -> ChatTemplate:
        """The model's own chat template."""
        source = llama_cpp.llama_model_chat_template(self._model, None)
        if source is None:
            return ChatTemplate(chatml)
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        try:
            formatter = Jinja2ChatFormatter(
                template=source.decode("utf-8"),
                bos_token=self.vocabulary.text_of([self.vocabulary.bos]),
                eos_token=self.vocabulary.text_of([self.vocabulary.eos]),
            )
        except Exception as error:  # the template is a program of somebody else's
            raise ModelError(f"{self.name}: its chat template is broken: {error}") from error
        # Thinking is switched off in the template, because the grammar begins at the
        # first token; templates without the switch ignore it.
        return ChatTemplate(
            lambda messages: str(formatter(messages=messages, enable_thinking=False).prompt)
        )

    def _opening(self, messages: Sequence[Message]) -> list[int]:
        tokens = self.vocabulary.tokens_of(self.template.opening(messages))
        # Exactly one begin-of-text token, whether the template writes it or not.
        wanted = self.vocabulary.adds_bos and tokens[:1] != [self.vocabulary.bos]
        return [self.vocabulary.bos, *tokens] if wanted else tokens

    def _checked_context(self, wanted: int | None) -> int:
        """Return the context size in tokens; raise UsageError where it cannot work."""
        trained = int(llama_cpp.llama_model_n_ctx_train(self._model))
        if trained < _SMALLEST_CONTEXT:
            raise ModelError(f"{self.name} says that its context is {trained} tokens: no use")
        size = min(DEFAULT_CONTEXT, trained) if wanted is None else wanted
        if size < _SMALLEST_CONTEXT:
            raise UsageError(
                f"a context of {size} tokens is too small: give --ctx-size "
                f"{_SMALLEST_CONTEXT} or more"
            )
        needed = size * self._bytes_per_token()
        free = psutil.virtual_memory().available
        if needed > free and not llama_cpp.llama_supports_gpu_offload():
            raise UsageError(
                f"a context of {size} tokens needs {needed / 2**30:.1f} GiB and "
                f"{free / 2**30:.1f} GiB of memory are free: give a smaller --ctx-size"
            )
        if size > trained:
            raise UsageError(
                f"{self.name} was trained for a context of {trained} tokens, not {size}: "
                f"give --ctx-size {trained} or less"
            )
        return size

    def _bytes_per_token(self) -> int:
        """Return the bytes that a token's keys and values take in the cache, as f16:
        layers * key-value heads * (key width + value width) * 2."""
        model = self._model
        width = llama_cpp.llama_model_n_embd(model) // max(1, llama_cpp.llama_model_n_head(model))
        architecture = self._metadata("general.architecture")
        key = int(self._metadata(f"{architecture}.attention.key_length") or width)
        value = int(self._metadata(f"{architecture}.attention.value_length") or width)
        heads = max(1, int(llama_cpp.llama_model_n_head_kv(model)))
        return int(llama_cpp.llama_model_n_layer(model)) * heads * (key + value) * 2

    def _metadata(self, key: str) -> str:
        buffer = ctypes.create_string_buffer(256)
        found = llama_cpp.llama_model_meta_val_str(self._model, key.encode(), buffer, 256)
        return buffer.value.decode("utf-8", "replace") if found >= 0 else ""


class LlamaContext:
    """One growing chat with a LlamaModel. Its token ids are kept: nothing is
    tokenised twice, nor evaluated twice while no other context comes between."""

    def __init__(self, model: LlamaModel, tokens: list[int]) -> None:
        self._model = model
        self._tokens = tokens
        self.usage = Usage()

    @property
    def tokens(self) -> tuple[int, ...]:
        """The token ids so far."""
        return tuple(self._tokens)

    @property
    def room(self) -> int:
        """Tokens that still fit into the context window."""
        return self._model.context_size - len(self._tokens)

    def force(self, text: str) -> None:
        """Append text to the assistant's unfinished reply."""
        self._tokens += self._model.vocabulary.tokenize(text)

    def append(self, message: Message) -> None:
        """Close the assistant's reply, add a message, and open the next reply."""
        segments = self._model.template.next_turn(message)
        self._tokens += self._model.vocabulary.tokens_of(segments)

    def generate(self, grammar: str | None, sampling: Sampling) -> Iterator[str]:
        """Yield the assistant's reply, one string a token."""
        model = self._model
        with model.lock:
            model.check_open()
            picker = Picker(model.grammars, grammar, sampling)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            while self.room > 0:
                # Held for one token: another thread's context may come in between, which
                # costs reading again what the two don't share, and nothing worse.
                with model.lock:
                    token = self._next(picker)
                if token is None:
                    return
                yield decoder.decode(model.vocabulary.bytes_of(token))
        finally:
            with model.lock:
                picker.close()

    def _next(self, picker: Picker) -> int | None:
        """Read what is new, and append and return the next token; None at the end."""
        self._model.check_open()
        evaluator = self._model.evaluator
        read = evaluator.read(self, self._tokens)
        token = picker.pick(evaluator.logits())
        self.usage += Usage(evaluated=read, generated=token is not None)
        if token is not None:
            self._tokens.append(token)
        return token


def _load(path: Path, gpu_layers: int) -> Any:
    """Return the native model, its weights memory-mapped. Raises ModelError."""
    params = llama_cpp.llama_model_default_params()
    params.n_gpu_layers = gpu_layers if llama_cpp.llama_supports_gpu_offload() else 0
    with interruptible() as interrupted, native_log().causes() as causes:
        # Kept in a variable: the native code calls it while it loads.
        going_on = llama_cpp.llama_progress_callback(lambda *_: not interrupted.is_set())
        params.progress_callback = going_on
        model = llama_cpp.llama_model_load_from_file(os.fsencode(path), params)
    if not model:
        raise ModelError(f"{path.name} cannot be loaded: {cause(causes)}")
    return model


def _checked_threads(wanted: int | None) -> int:
    """Return the threads to use: those asked for, at most the CPUs there are for us."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if wanted is not None and wanted < 1:
        raise UsageError(f"--threads must be 1 or more, not {wanted}")
    return min(wanted or usable or 1, usable or 1)
