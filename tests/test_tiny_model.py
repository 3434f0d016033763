"""What llama.cpp lets one do with what has been read, for each kind of memory.

The backend is built on these answers. They are asserted, the unpleasant ones too, so
that a change of llama.cpp is noticed: where a test of "wrong" or "half-written" fails
because llama.cpp got better, the table is what has to be corrected.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
import pytest
from tiny_model import ARCHITECTURES, WINDOW, write_tiny_model

Values = np.ndarray[Any, np.dtype[np.float32]]
Row = tuple[int, int, int | tuple[int, ...], bool]
"""A token, its position, the sequence or sequences it belongs to, whether logits are wanted."""

ROUNDING, WRONG = 1e-3, 1e-2
"""Logits (of which the standard deviation is about 3) that differ by less are the same
but for the order of a sum; those that differ by more come of other tokens."""


@dataclass(frozen=True)
class Kind:
    """What a kind of memory allows."""

    cuts: bool = True
    """The tail of a sequence can be cut off."""
    part: str = "right"
    """A copy of a part of a sequence: "right", "wrong" (and nothing says so), "refused"."""
    overwrites: bool = False
    """A copy may go to a sequence that holds something already."""
    shares_rows: bool = True
    """A row of a batch may belong to several sequences."""
    aborted: str = "cut back"
    """A sequence after an aborted batch: "cut back" to before it, or "half-written"."""
    spoils_others: bool = False
    """An aborted batch of several sequences spoils those that were not in it."""
    runs_out: bool = True
    """There are as many cells as `n_ctx` says."""
    window: int = 0
    recurrent: bool = False
    hybrid: bool = False


HYBRID = Kind(cuts=False, part="wrong", aborted="half-written", spoils_others=True, hybrid=True)
KINDS = {
    "llama": Kind(),
    "qwen3moe": Kind(),
    "gemma3": Kind(window=WINDOW),
    "lfm2": HYBRID,
    "qwen35": HYBRID,
    "granitehybrid": HYBRID,
    "mamba": Kind(
        cuts=False,
        part="refused",
        overwrites=True,
        shares_rows=False,
        aborted="half-written",
        runs_out=False,
        recurrent=True,
    ),
}


class Native:
    """A context of the low-level functions, for up to five sequences."""

    def __init__(self, model: Any, *, cells: int = 512, batch: int = 256, **settings: Any) -> None:
        params = llama_cpp.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = cells, batch, batch
        params.n_seq_max, params.kv_unified = 5, True
        params.n_threads = params.n_threads_batch = 1
        # With halves and flash attention, the defaults, the order of a sum is seen
        # in the third place: too near to what other tokens would do.
        params.type_k = params.type_v = llama_cpp.GGML_TYPE_F32
        params.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
        for name, value in settings.items():
            setattr(params, name, value)
        self.context = llama_cpp.llama_init_from_model(model, params)
        self.memory = llama_cpp.llama_get_memory(self.context)
        self._words = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(model))
        self._batch = llama_cpp.llama_batch_init(batch + 1, 0, 5)

    def __enter__(self) -> Native:
        return self

    def __exit__(self, *_: object) -> None:
        llama_cpp.llama_batch_free(self._batch)
        llama_cpp.llama_free(self.context)

    def decode(self, rows: Sequence[Row]) -> int:
        batch = self._batch
        batch.n_tokens = len(rows)
        for i, (token, position, sequence, wanted) in enumerate(rows):
            sequences = sequence if isinstance(sequence, tuple) else (sequence,)
            batch.token[i], batch.pos[i], batch.logits[i] = token, position, wanted
            batch.n_seq_id[i] = len(sequences)
            for j, name in enumerate(sequences):
                batch.seq_id[i][j] = name
        return int(llama_cpp.llama_decode(self.context, batch))

    def read(self, tokens: Sequence[int], sequence: int = 0) -> int:
        """Append the tokens in one batch, with logits for the last."""
        return self.decode(rows(tokens, self.last(sequence) + 1, sequence))

    def told(self, tokens: Sequence[int], sequence: int = 0) -> Values:
        """Append the tokens and return the logits after them."""
        assert self.read(tokens, sequence) == 0
        return self.logits()

    def logits(self, row: int = -1) -> Values:
        pointer = llama_cpp.llama_get_logits_ith(self.context, row)
        values: Values = np.ctypeslib.as_array(pointer, shape=(self._words,)).copy()
        return values

    def last(self, sequence: int) -> int:
        """Return the last position of a sequence, -1 where it is empty."""
        return int(llama_cpp.llama_memory_seq_pos_max(self.memory, sequence))

    def first(self, sequence: int) -> int:
        return int(llama_cpp.llama_memory_seq_pos_min(self.memory, sequence))

    def cut(self, sequence: int, start: int = 0) -> bool:
        return bool(llama_cpp.llama_memory_seq_rm(self.memory, sequence, start, -1))

    def copy(self, source: int, target: int, start: int = -1, end: int = -1) -> None:
        llama_cpp.llama_memory_seq_cp(self.memory, source, target, start, end)

    def state(self, sequence: int) -> Any:
        size = llama_cpp.llama_state_seq_get_size(self.context, sequence)
        data = (ctypes.c_uint8 * size)()
        assert llama_cpp.llama_state_seq_get_data(self.context, data, size, sequence) == size
        return data

    def restore(self, data: Any, size: int, sequence: int) -> int:
        return int(llama_cpp.llama_state_seq_set_data(self.context, data, size, sequence))

    def aborted(self, rows: Sequence[Row], after: int = 1) -> int:
        """Decode the rows, but abort it when that many nodes have been computed."""
        calls = iter(range(after))
        stop = llama_cpp.ggml_abort_callback(lambda _: next(calls, None) is None)
        llama_cpp.llama_set_abort_callback(self.context, stop, None)
        result = self.decode(rows)
        none = llama_cpp.ggml_abort_callback(0)
        llama_cpp.llama_set_abort_callback(self.context, none, None)
        return result


def rows(tokens: Sequence[int], start: int = 0, sequence: int = 0) -> list[Row]:
    last = len(tokens) - 1
    return [(token, start + i, sequence, i == last) for i, token in enumerate(tokens)]


def text(length: int, seed: int) -> list[int]:
    return [int(token) for token in np.random.default_rng(seed).integers(0, 256, length)]


def apart(one: Values, other: Values) -> float:
    return float(np.abs(one - other).max())


PROMPT, MORE, OTHER = text(100, 1), text(6, 2), text(6, 3)


@dataclass(frozen=True)
class Tiny:
    """A loaded model and what its memory should allow."""

    model: Any
    kind: Kind
    path: Path

    def alone(self, *parts: Sequence[int]) -> Values:
        """Return the logits after the parts, read one after the other in a fresh context."""
        with Native(self.model) as native:
            return [native.told(part) for part in parts][-1]


@pytest.fixture(scope="module", params=sorted(KINDS))
def tiny_kind(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Tiny]:
    path = write_tiny_model(
        tmp_path_factory.mktemp("kinds") / f"{request.param}.gguf", architecture=request.param
    )
    params = llama_cpp.llama_model_default_params()
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), params)
    assert model
    yield Tiny(model, KINDS[request.param], path)
    llama_cpp.llama_model_free(model)


def test_every_model_that_can_be_written_has_its_line_in_the_table() -> None:
    assert set(KINDS) == set(ARCHITECTURES)


def test_each_model_is_small_and_of_the_kind_that_its_line_says(tiny_kind: Tiny) -> None:
    model, kind = tiny_kind.model, tiny_kind.kind
    assert tiny_kind.path.stat().st_size < 2_000_000
    assert llama_cpp.llama_model_n_swa(model) == kind.window
    assert llama_cpp.llama_model_is_recurrent(model) == kind.recurrent
    assert llama_cpp.llama_model_is_hybrid(model) == kind.hybrid


def test_what_was_read_first_counts_at_the_end(tiny_kind: Tiny) -> None:
    read = tiny_kind.alone(PROMPT)
    assert np.isfinite(read).all()
    assert 1 < read.std() < 10
    assert apart(tiny_kind.alone(text(50, 4) + PROMPT[50:]), read) > WRONG


def test_one_by_one_is_the_same_as_at_once(tiny_kind: Tiny) -> None:
    single = tiny_kind.alone(*([token] for token in PROMPT))
    assert apart(single, tiny_kind.alone(PROMPT)) < ROUNDING


@pytest.mark.parametrize("tail", [1, 40])
def test_cutting_the_tail(tiny_kind: Tiny, tail: int) -> None:
    with Native(tiny_kind.model) as native:
        native.read(PROMPT)
        assert native.cut(0, 100 - tail) == tiny_kind.kind.cuts
        if tiny_kind.kind.cuts:
            assert apart(native.told(PROMPT[-tail:]), tiny_kind.alone(PROMPT)) < ROUNDING
        else:  # nothing has changed, and it goes on
            assert native.last(0) == 99
            assert apart(native.told(MORE), tiny_kind.alone(PROMPT, MORE)) == 0


def test_removing_the_whole_sequence(tiny_kind: Tiny) -> None:
    with Native(tiny_kind.model) as native:
        native.read(OTHER)
        assert native.cut(0)
        assert native.cut(0, 0)  # also when there is nothing
        assert native.last(0) == -1
        assert apart(native.told(PROMPT), tiny_kind.alone(PROMPT)) == 0


def test_copies_of_a_whole_sequence_go_on_together_and_apart(tiny_kind: Tiny) -> None:
    with Native(tiny_kind.model) as native:
        native.read(PROMPT)
        for target in (1, 2, 3, 4):
            native.copy(0, target)
        for i in range(3):
            new = [(OTHER if s % 2 else MORE)[i] for s in range(5)]
            assert native.decode([(t, 100 + i, s, True) for s, t in enumerate(new)]) == 0
        for s in range(5):
            single = tiny_kind.alone(PROMPT, *([t] for t in (OTHER if s % 2 else MORE)[:3]))
            assert apart(native.logits(s), single) < ROUNDING


def test_a_copy_alone_gives_the_very_same_logits(tiny_kind: Tiny) -> None:
    with Native(tiny_kind.model) as native:
        native.read(PROMPT)
        native.copy(0, 3)
        assert apart(native.told(MORE, 3), tiny_kind.alone(PROMPT, MORE)) == 0
        assert apart(native.told(OTHER, 0), tiny_kind.alone(PROMPT, OTHER)) < ROUNDING


def test_copying_a_part(tiny_kind: Tiny) -> None:
    with Native(tiny_kind.model) as native:
        native.read(PROMPT)
        native.copy(0, 1, 0, 95)
        result = native.decode(rows(PROMPT[95:], 95, 1))
        if tiny_kind.kind.part == "refused":
            assert result == -1
            return
        assert result == 0
        error = apart(native.logits(), tiny_kind.alone(PROMPT))
        assert error < ROUNDING if tiny_kind.kind.part == "right" else error > WRONG


@pytest.mark.parametrize("emptied", [False, True])
def test_copying_onto_a_sequence_that_holds_something(tiny_kind: Tiny, emptied: bool) -> None:
    with Native(tiny_kind.model) as native:
        native.read(text(100, 5), 1)
        native.read(PROMPT)
        if emptied:
            assert native.cut(1)
        native.copy(0, 1)
        error = apart(native.told(MORE, 1), tiny_kind.alone(PROMPT, MORE))
        right = emptied or tiny_kind.kind.overwrites
        assert error < ROUNDING if right else error > WRONG


def test_a_state_goes_on_in_another_sequence_of_another_context(tiny_kind: Tiny) -> None:
    with Native(tiny_kind.model) as native:
        native.read(PROMPT)
        data = native.state(0)
    with Native(tiny_kind.model, cells=1024, n_seq_max=3) as native:
        native.read(OTHER, 2)  # is replaced
        native.read(OTHER, 0)
        assert native.restore(data, len(data), 2) == len(data)
        assert apart(native.told(MORE, 2), tiny_kind.alone(PROMPT, MORE)) < ROUNDING
        assert apart(native.told(MORE, 0), tiny_kind.alone(OTHER, MORE)) < ROUNDING
    with Native(tiny_kind.model) as native:
        native.restore(data, len(data), 4)
        error = apart(native.told(MORE, 4), tiny_kind.alone(PROMPT, MORE))
        # Of a windowed layer only the window is kept, so that a sum has another order.
        assert error < ROUNDING if tiny_kind.kind.window else error == 0


def test_a_damaged_state_is_refused_and_leaves_the_sequence_empty(tiny_kind: Tiny) -> None:
    with Native(tiny_kind.model) as native:
        native.read(PROMPT)
        data = native.state(0)
        native.read(PROMPT, 1)
        assert native.restore(data, len(data) - 10, 1) == 0
        assert native.last(1) == -1
        data[0] ^= 255
        assert native.restore(data, len(data), 1) == 0
        assert apart(native.told(MORE), tiny_kind.alone(PROMPT, MORE)) < ROUNDING


def test_rows_of_several_sequences_of_different_lengths(tiny_kind: Tiny) -> None:
    held = {0: PROMPT, 2: PROMPT[:50], 4: PROMPT[10:70]}
    new = {0: [*MORE, 7], 2: [8], 4: [9]}
    with Native(tiny_kind.model) as native:
        assert native.decode([r for s, tokens in held.items() for r in rows(tokens, 0, s)]) == 0
        batch = [r for s, tokens in new.items() for r in rows(tokens, len(held[s]), s)]
        assert native.decode(batch) == 0
        for row, s in ((6, 0), (7, 2), (8, 4)):
            assert apart(native.logits(row), tiny_kind.alone(held[s], new[s])) < ROUNDING


def test_a_row_that_belongs_to_several_sequences(tiny_kind: Tiny) -> None:
    shared: list[Row] = [(t, i, (0, 1, 2), i == 99) for i, t in enumerate(PROMPT)]
    with Native(tiny_kind.model) as native:
        if not tiny_kind.kind.shares_rows:
            assert native.decode(shared) == 1
            assert native.last(0) == -1
            return
        assert native.decode(shared) == 0
        assert apart(native.told(MORE, 1), tiny_kind.alone(PROMPT, MORE)) < ROUNDING
        assert apart(native.told(OTHER, 2), tiny_kind.alone(PROMPT, OTHER)) < ROUNDING


def test_a_batch_without_logits(tiny_kind: Tiny) -> None:
    with Native(tiny_kind.model) as native:
        assert native.decode([(t, i, 0, False) for i, t in enumerate(PROMPT)]) == 0
        assert not llama_cpp.llama_get_logits_ith(native.context, -1)
        assert apart(native.told(MORE), tiny_kind.alone(PROMPT, MORE)) == 0


def test_an_aborted_batch_of_one_sequence(tiny_kind: Tiny) -> None:
    with Native(tiny_kind.model) as native:
        native.read(PROMPT)
        native.copy(0, 1)
        assert native.aborted(rows(MORE, 100)) == 2
        if tiny_kind.kind.aborted == "cut back":
            assert native.last(0) == 99
        else:  # it says that all has been read
            assert native.last(0) == 105
            assert apart(native.told([7]), tiny_kind.alone(PROMPT, MORE, [7])) > WRONG
            assert native.cut(0)
            native.copy(1, 0)
        # The copy is whole, so the fork that was lost can be made again.
        assert apart(native.told(MORE), tiny_kind.alone(PROMPT, MORE)) < ROUNDING
        assert apart(native.told(OTHER, 1), tiny_kind.alone(PROMPT, OTHER)) < ROUNDING


def test_an_aborted_batch_of_several_sequences(tiny_kind: Tiny) -> None:
    with Native(tiny_kind.model) as native:
        for s in range(5):
            native.read(text(60, 10 + s), s)
        assert native.aborted([(1, 60, 3, True), (2, 60, 1, True)]) == 2
        bystanders = {s: native.told(MORE, s) for s in (0, 2, 4)}
        errors = [apart(v, tiny_kind.alone(text(60, 10 + s), MORE)) for s, v in bystanders.items()]
        spoilt = max(errors) > WRONG
        assert spoilt == tiny_kind.kind.spoils_others
        assert spoilt or max(errors) < ROUNDING
        llama_cpp.llama_memory_clear(native.memory, True)
        assert apart(native.told(PROMPT, 2), tiny_kind.alone(PROMPT)) < ROUNDING


def test_where_the_cells_run_out_nothing_has_changed(tiny_kind: Tiny) -> None:
    held = text(150, 6)
    with Native(tiny_kind.model, cells=256) as native:
        native.read(held)
        if not tiny_kind.kind.runs_out:
            assert native.read(held) == 0
            return
        assert native.read(held) == 1
        assert native.last(0) == 149
        assert apart(native.told(MORE), tiny_kind.alone(held, MORE)) == 0


@pytest.mark.parametrize("row", [(256 + 99, 0, 0, True), (1, 0, 5, True), (1, 5, 0, True)])
def test_a_row_that_cannot_be_is_refused(tiny_kind: Tiny, row: Row) -> None:
    """A token above the vocabulary, a sequence too many, a position a second time."""
    with Native(tiny_kind.model) as native:
        native.read(MORE)
        assert native.decode([row]) == -1
        assert apart(native.told(OTHER), tiny_kind.alone(MORE, OTHER)) == 0


@pytest.fixture
def windowed(tmp_path: Path) -> Iterator[Tiny]:
    yield from _loaded(tmp_path, "gemma3")


def _loaded(folder: Path, architecture: str) -> Iterator[Tiny]:
    path = write_tiny_model(folder / "t.gguf", architecture=architecture)
    params = llama_cpp.llama_model_default_params()
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), params)
    yield Tiny(model, KINDS[architecture], path)
    llama_cpp.llama_model_free(model)


@pytest.mark.parametrize("full", [True, False])
def test_a_window_of_few_cells_loses_what_a_cut_needs_and_cannot_fork(
    windowed: Tiny, full: bool
) -> None:
    """Without `swa_full` a long text leaves nothing before the window to go back to, and
    cells of several sequences are not used again. Neither is said."""
    long = text(600, 7)
    settings = {"cells": 1024, "batch": 64, "swa_full": full}
    with Native(windowed.model, **settings) as native:
        for start in range(0, 600, 60):
            native.read(long[start : start + 60])
        assert (native.first(0) == 0) == full
        for target in (1, 2, 3, 4):
            native.copy(0, target)
        assert native.decode([(1, 600, s, True) for s in range(5)]) == (0 if full else 1)
        assert native.cut(0, 200)
        assert native.last(0) == (199 if full else -1)


@pytest.mark.parametrize("architecture", ["lfm2", "qwen35", "granitehybrid", "mamba"])
def test_going_back_by_snapshots_is_not_to_be_trusted(tmp_path: Path, architecture: str) -> None:
    """`n_rs_seq` keeps states of the last batch alone: past it a cut is granted and wrong."""
    for tiny in _loaded(tmp_path, architecture):
        with Native(tiny.model, n_rs_seq=8) as native:
            native.read(PROMPT)
            for token in MORE:
                native.read([token])
            granted = native.cut(0, 103)
            assert granted == (architecture in {"lfm2", "qwen35"})
            if granted:
                told = native.told(MORE[3:])
                assert apart(told, tiny.alone(PROMPT, MORE)) > WRONG


FATAL = {
    "a batch above n_batch": "native.decode([(1, 1 + i, 0, True) for i in range(257)])",
    "a sequence above 255": "native.cut(256)",
    "a part copied between streams": "native.read([1] * 9); native.copy(0, 1, 0, 5)",
}


@pytest.mark.parametrize("mistake", sorted(FATAL))
def test_what_ends_the_process(tiny_path: Path, mistake: str) -> None:
    """These must never be asked for: no exception, the process is gone."""
    unified = mistake != "a part copied between streams"
    program = (
        "import sys, llama_cpp; from test_tiny_model import Native\n"
        "params = llama_cpp.llama_model_default_params()\n"
        "model = llama_cpp.llama_model_load_from_file(sys.argv[1].encode(), params)\n"
        f"native = Native(model, kv_unified={unified}); native.read([1])\n"
        f"print('so far', flush=True); {FATAL[mistake]}; print('alive')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tiny_path)],
        env={
            **os.environ,
            "GGML_NO_BACKTRACE": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split("\n")[0] == "so far"
    assert "alive" not in done.stdout
    assert done.returncode != 0
    assert "GGML_ASSERT" in done.stderr
