"""What is kept on disk: the same bytes come back or none, whatever happens to the files."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from local_react import atomic
from local_react.prefix_cache import PrefixCache, prefix_dir

DATA = np.arange(10_000, dtype=np.uint32).view(np.uint8)
posix = pytest.mark.skipif(os.name == "nt", reason="other rights there")


@pytest.fixture
def cache(tmp_path: Path) -> PrefixCache:
    return PrefixCache(tmp_path / "deep" / "prefixes")


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A directory that belongs to a user who is not root, which this process then is."""
    with tempfile.TemporaryDirectory() as name:  # pytest's own are closed to other users
        was = os.geteuid()
        user = was or 65534
        os.chown(name, user, -1)
        os.seteuid(user)
        try:
            yield Path(name)
        finally:
            os.seteuid(was)
            Path(name).chmod(0o700)


def put(cache: PrefixCache, key: str = "k", data: NDArray[np.uint8] = DATA) -> bool:
    return cache.save(key, data, model=f"{key}.gguf", tokens=7)


def names(cache: PrefixCache) -> set[str]:
    return {path.name for path in cache.directory.iterdir()}


def file_of(cache: PrefixCache, key: str = "k") -> Path:
    return cache.directory / f"{key}.state"


def is_data(found: NDArray[np.uint8] | None) -> bool:
    return found is not None and found.tobytes() == DATA.tobytes()


def test_what_was_saved_is_loaded(cache: PrefixCache) -> None:
    assert cache.load("k") is None
    assert put(cache)
    found = cache.load("k")
    assert is_data(found)
    assert found is not None
    assert found.dtype == np.uint8
    assert cache.load("other") is None


def test_the_last_saved_counts(cache: PrefixCache) -> None:
    put(cache, data=DATA[:5])
    put(cache)
    assert is_data(cache.load("k"))
    assert names(cache) == {"k.state"}


def test_nothing_at_all_can_be_kept(cache: PrefixCache) -> None:
    assert put(cache, data=DATA[:0])
    found = cache.load("k")
    assert found is not None
    assert len(found) == 0


def test_remove_takes_one(cache: PrefixCache) -> None:
    put(cache, "a")
    put(cache, "b")
    cache.remove("a")
    cache.remove("never there")
    assert cache.load("a") is None
    assert is_data(cache.load("b"))


def test_entries_tell_what_is_there_the_last_used_first(cache: PrefixCache) -> None:
    assert cache.entries() == []
    for age, key in ((30, "b"), (20, "a"), (10, "c")):
        put(cache, key)
        used_before(cache, key, age)
    assert [entry.model for entry in cache.entries()] == ["c.gguf", "a.gguf", "b.gguf"]
    cache.load("b")
    first = cache.entries()[0]
    about = file_of(cache, "b").stat()
    assert (first.path, first.model, first.tokens) == (file_of(cache, "b"), "b.gguf", 7)
    assert (first.bytes, first.used) == (about.st_size, about.st_mtime)
    assert abs(first.used - time.time()) < 9


def used_before(cache: PrefixCache, key: str, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(file_of(cache, key), (then, then))


def test_clear_removes_what_is_ours_and_nothing_else(cache: PrefixCache) -> None:
    assert cache.clear() == (0, 0)
    put(cache, "a")
    put(cache, "b")
    (cache.directory / "x.new").write_bytes(b"12345")
    (cache.directory / "notes.txt").write_text("mine")
    size = 5 + sum(entry.bytes for entry in cache.entries())
    assert cache.clear() == (3, size)
    assert names(cache) == {"notes.txt"}
    assert cache.entries() == []


def test_beyond_the_limit_what_was_used_longest_ago_goes(cache: PrefixCache) -> None:
    put(cache, "a")
    size = file_of(cache, "a").stat().st_size
    small = PrefixCache(cache.directory, limit=3 * size)
    for key in "abc":
        put(small, key)
    for age, key in ((30, "a"), (20, "b"), (10, "c")):
        used_before(small, key, age)
    small.load("a")
    put(small, "d")
    assert names(small) == {"a.state", "c.state", "d.state"}


def test_what_no_room_could_be_made_for_costs_nothing_else(cache: PrefixCache) -> None:
    put(cache, "b")
    size = file_of(cache, "b").stat().st_size
    cache.clear()
    put(cache, "a")
    exact, short = (PrefixCache(cache.directory, limit=limit) for limit in (size, size - 1))
    assert not put(short, "b")  # the header counts too
    assert names(cache) == {"a.state"}
    assert put(exact, "b")
    assert names(cache) == {"b.state"}


def test_files_that_dead_processes_left_go_and_those_of_the_living_stay(
    cache: PrefixCache,
) -> None:
    put(cache)
    for name in ("j.state.01234567.new", "k.state.abcdefgh.new"):
        (cache.directory / name).write_bytes(b"half")
    handle, alive = atomic._unfinished(cache.directory / "k.state")
    put(cache)
    assert names(cache) == {"k.state", alive.name}
    os.close(handle)
    put(cache)
    assert names(cache) == {"k.state"}


@posix
def test_it_is_its_owner_s_alone(cache: PrefixCache) -> None:
    before = os.umask(0)
    try:
        put(cache)
    finally:
        os.umask(before)
    assert stat.S_IMODE(cache.directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(file_of(cache).stat().st_mode) == 0o600


def header_with(**changes: object) -> bytes:
    """Return a header that is right, but for the changes; None leaves a field out."""
    with tempfile.TemporaryDirectory() as name:
        cache = PrefixCache(Path(name))
        put(cache)
        right: dict[str, Any] = json.loads(file_of(cache).read_bytes().partition(b"\n")[0])
    fields = {**right, **changes}
    return json.dumps({k: v for k, v in fields.items() if v is not None}).encode()


HEADERS = {
    "none": b"",
    "blank": b" ",
    "noise": b"\xff\x00\xfe",
    "half": b'{"format": "local',
    "list": b"[]",
    "number": b"3",
    "null": b"null",
    "deep": b"[" * 4000,
    "deep and long": b"[" * 9000,
    "long number": b'{"tokens": ' + b"9" * 4000 + b"}",
    "endless": b" " * 9000,
    "other version": header_with(format="local_react prefix 0"),
    "no format": header_with(format=None),
    "no checksum": header_with(crc32=None),
    "no length": header_with(bytes=None),
    "a field more": header_with(more=1),
    "model a list": header_with(model=["x"]),
    "tokens as text": header_with(tokens="7"),
    "tokens true": header_with(tokens=True),
    "length as text": header_with(bytes="40000"),
    "length with a point": header_with(bytes=40000.0),
    "another length": header_with(bytes=39999),
    "another checksum": header_with(crc32=1),
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=list(HEADERS))
@pytest.mark.parametrize("ending", [b"\n" + DATA.tobytes(), b""], ids=["data", "no data"])
def test_a_damaged_header_is_dropped_and_told(
    cache: PrefixCache, header: bytes, ending: bytes
) -> None:
    put(cache, "good")
    file_of(cache).write_bytes(header + ending)
    seen = {entry.path.name: entry for entry in cache.entries()}
    assert seen["good.state"].model == "good.gguf"
    assert isinstance(seen["k.state"].tokens, int)
    assert seen["k.state"].bytes == len(header + ending)
    assert cache.load("k") is None
    assert names(cache) == {"good.state"}
    put(cache)
    assert is_data(cache.load("k"))


def test_a_header_that_is_right_is_what_the_others_differ_from(cache: PrefixCache) -> None:
    cache.directory.mkdir(parents=True)
    file_of(cache).write_bytes(header_with() + b"\n" + DATA.tobytes())
    assert is_data(cache.load("k"))


def test_an_entry_of_no_use_has_no_model_s_name(cache: PrefixCache) -> None:
    put(cache)
    file_of(cache).write_bytes(header_with(format="local_react prefix 0") + b"\n")
    assert [(entry.model, entry.tokens) for entry in cache.entries()] == [("", 0)]


def test_an_entry_under_another_s_name_is_none(cache: PrefixCache) -> None:
    put(cache)
    file_of(cache).replace(file_of(cache, "other"))
    assert cache.load("other") is None
    assert names(cache) == set()


@pytest.mark.parametrize("length", [0, 1, 100, 39_999])
def test_a_file_cut_short_is_dropped(cache: PrefixCache, length: int) -> None:
    put(cache)
    data = file_of(cache).read_bytes()
    file_of(cache).write_bytes(data[: len(data) - len(DATA) + length])
    assert cache.load("k") is None
    assert names(cache) == set()


@given(st.data())
def test_whatever_happens_to_the_bytes_the_same_come_back_or_none(data: st.DataObject) -> None:
    small = np.frombuffer(b"what a model made of it" * 3, dtype=np.uint8)
    with tempfile.TemporaryDirectory() as name:
        cache = PrefixCache(Path(name))
        put(cache, data=small)
        file = file_of(cache)
        damaged = bytearray(file.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            start = data.draw(st.integers(0, len(damaged)))
            end = data.draw(st.integers(start, min(len(damaged), start + 40)))
            damaged[start:end] = data.draw(st.binary(max_size=20))
        file.write_bytes(damaged)
        [entry] = cache.entries()
        assert isinstance(entry.model, str)
        found = cache.load("k")
        assert found is None or found.tobytes() == small.tobytes()
        assert file.exists() == (found is not None)


@posix
def test_where_nothing_may_be_written_what_is_there_is_of_use(unprivileged: Path) -> None:
    cache = PrefixCache(unprivileged / "prefixes")
    put(cache)
    cache.directory.chmod(0o500)
    assert not put(cache, "more")
    cache.remove("k")
    assert cache.clear() == (0, 0)
    assert is_data(cache.load("k"))
    assert names(cache) == {"k.state"}
    cache.directory.chmod(0o700)


@posix
def test_an_entry_that_may_be_read_alone_is_of_use(
    cache: PrefixCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(cache)

    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "another's")

    monkeypatch.setattr(os, "utime", refused)
    assert is_data(cache.load("k"))
    assert is_data(cache.load("k"))


@posix
def test_where_nothing_may_be_read_there_is_nothing(unprivileged: Path) -> None:
    cache = PrefixCache(unprivileged / "prefixes")
    put(cache)
    cache.directory.chmod(0)
    assert cache.load("k") is None
    assert not put(cache)
    assert cache.entries() == []
    assert cache.clear() == (0, 0)
    cache.directory.chmod(0o700)
    assert is_data(cache.load("k"))


@posix
def test_an_entry_that_cannot_be_read_stays_and_can_be_replaced(unprivileged: Path) -> None:
    cache = PrefixCache(unprivileged / "prefixes")
    put(cache)
    file_of(cache).chmod(0)
    assert cache.load("k") is None
    assert [(e.model, e.bytes > len(DATA)) for e in cache.entries()] == [("", True)]
    assert put(cache)
    assert is_data(cache.load("k"))


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "too many files"), MemoryError()])
def test_what_is_scarce_for_a_moment_costs_no_entry(
    cache: PrefixCache, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    put(cache)

    def scarce(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(np, "fromfile", scarce)
        assert cache.load("k") is None
    assert is_data(cache.load("k"))


def test_a_file_in_the_place_of_a_directory_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for directory in (tmp_path / "file", tmp_path / "file" / "below"):
        cache = PrefixCache(directory)
        assert not put(cache)
        assert cache.load("k") is None
        assert (cache.entries(), cache.clear()) == ([], (0, 0))
    assert (tmp_path / "file").read_text() == "x"


def test_a_directory_in_the_place_of_an_entry_is_no_entry(cache: PrefixCache) -> None:
    file_of(cache).mkdir(parents=True)
    assert cache.load("k") is None
    assert not put(cache)
    assert names(cache) == {"k.state"}


def test_a_disk_that_fills_up_leaves_what_was_there(
    cache: PrefixCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(cache)

    class Full:
        """A file whose last bytes do not fit: they are refused when it is closed."""

        def __init__(self, handle: int, _: str) -> None:
            self.handle = handle

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            os.close(self.handle)
            raise OSError(errno.ENOSPC, "No space left on device")

        def write(self, data: bytes) -> int:
            return os.write(self.handle, bytes(data)[:100])

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdopen", Full)
        assert not put(cache, "k", DATA[:5000])
        assert not put(cache, "other")
    assert names(cache) == {"k.state"}
    assert is_data(cache.load("k"))


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
def test_a_file_that_may_grow_no_further_leaves_what_was_there(cache: PrefixCache) -> None:
    import resource
    import signal

    put(cache)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        for limit in (50, 4096, 39_999):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
            assert not put(cache, "k", DATA[::-1].copy())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert names(cache) == {"k.state"}
    assert is_data(cache.load("k"))


def test_ctrl_c_while_it_is_written_leaves_nothing_half(
    cache: PrefixCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(cache)

    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "replace", pressed)
        put(cache, "other")
    assert names(cache) == {"k.state"}


WRITER = """
import sys
from pathlib import Path
import numpy as np
from local_react.prefix_cache import PrefixCache
cache, own = PrefixCache(Path(sys.argv[1])), int(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
data = np.full(200_000 + own, own, dtype=np.uint8)
for _ in range(60):
    assert cache.save("k", data, model=f"{own}.gguf", tokens=own)
"""


def test_two_processes_that_write_one_key_are_never_mixed(cache: PrefixCache) -> None:
    """Both write as fast as they can while this one reads."""
    path = os.pathsep.join(filter(None, sys.path))
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(cache.directory), str(own)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )
        for own in (1, 2)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline().strip() == b"ready"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"\n")
        writer.stdin.flush()
    loads = 0
    while any(writer.poll() is None for writer in writers) or not loads:
        found = cache.load("k")
        if found is not None:
            loads += 1
            assert set(found.tolist()[::1000]) == {len(found) - 200_000}
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    assert names(cache) == {"k.state"}
    assert cache.load("k") is not None


@pytest.mark.parametrize("word", ["off", "OFF", "Off"])
def test_the_word_off_turns_it_off(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("LOCAL_REACT_CACHE", word)
    assert prefix_dir() is None


def test_the_directory_is_the_one_that_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LOCAL_REACT_CACHE", str(tmp_path / "mine"))
    assert prefix_dir() == tmp_path / "mine" / "prefixes"
    assert not (tmp_path / "mine").exists()


def test_else_it_is_the_platform_s(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = Path(platformdirs.user_cache_dir("local-react", appauthor=False)) / "prefixes"
    monkeypatch.delenv("LOCAL_REACT_CACHE")
    assert prefix_dir() == ours
    monkeypatch.setenv("LOCAL_REACT_CACHE", "")
    assert prefix_dir() == ours
