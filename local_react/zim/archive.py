"""An archive, seen from outside: each question is put to a process of its own.

libzim aborts where an index is damaged (an incomplete download is one), and its
signal would end us too. A process costs 50 ms, and leaves nothing open behind it.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final, cast

import local_react
from local_react.errors import ToolError
from local_react.zim.article import Article, Nearest

NEAREST = 5
"""Titles that are offered where an article is not there, as in the ReAct paper."""
_TEXTS = 3
"""Articles that are searched for the words of a title that is not there."""
_SECONDS: Final = 30.0
"""For a question to an archive of 100 GB on a slow disk."""

_COMMAND: Final = (
    "import json, sys; sys.path += json.loads(sys.argv[1]); "
    "from local_react.zim.child import main; main()"
)


def look(path: Path, title: str) -> Article | Nearest:
    """Return the archive's article of that title, a redirect's or another spelling's
    included, or the titles and articles that are nearest to it.

    Raises ToolError, one line, where the archive cannot be read.
    """
    reply = ask(path, {"what": "look", "title": title, "near": NEAREST, "texts": _TEXTS})
    name = _name(path, reply["about"])
    if page := reply.get("page"):
        return _article(page, name, reply["about"]["language"])
    articles = (_article(page, name, reply["about"]["language"]) for page in reply["pages"])
    readable = tuple(article for article in articles if article.sections)
    return Nearest(tuple(reply["near"]), readable, name)


def ask(path: Path, question: dict[str, Any], seconds: float = _SECONDS) -> dict[str, Any]:
    """Return what the process that reads the archive answers (child.py says what).

    Raises ToolError where it cannot: libzim or the file is missing or damaged.
    """
    command = [sys.executable, "-I", "-c", _COMMAND, json.dumps(_places())]
    try:
        done = subprocess.run(
            command,
            input=json.dumps({**question, "archive": str(path.absolute())}).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except subprocess.TimeoutExpired as error:
        raise ToolError(
            f"{path.name} did not answer within {seconds:g} s: is its disk slow? try again"
        ) from error
    except OSError as error:
        raise ToolError(f"the process that reads {path.name} cannot start: {error}") from error
    return _reply(path, done)


def _reply(path: Path, done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    if done.returncode or not done.stdout:
        raise ToolError(damaged(path, "reading it ends the process"))
    reply = cast("dict[str, Any]", json.loads(done.stdout))
    if "fault" in reply:
        raise ToolError(_fault(path, reply["fault"]))
    return reply


def damaged(path: Path, why: str) -> str:
    """Return the line that tells a person that an archive is of no use."""
    return f"{path.name} is damaged or no ZIM archive ({why}): download it again"


def _fault(path: Path, fault: str) -> str:
    if fault == "missing":
        return f"there is no file {path}: add it again where it is now"
    if fault == "too large":
        return f"the article is too large to read in {path.name}: look for another one"
    return damaged(path, fault)


def _places() -> list[str]:
    """Return the directories that libzim and this package are imported from; the process
    looks there last, and in no other that its user might have written to.

    Raises ToolError where there is no libzim.
    """
    found = importlib.util.find_spec("libzim")
    if found is None or found.origin is None:
        raise ToolError("reading a ZIM archive needs the package libzim: pip install libzim")
    package = Path(local_react.__file__).parent.parent
    return [str(package), str(Path(found.origin).parent)]


def _name(path: Path, about: dict[str, Any]) -> str:
    parts = (" ".join(about["title"].split())[:80] or path.stem, about["date"][:10])
    return ", ".join(part for part in parts if part)


def _article(page: dict[str, str], archive: str, language: str) -> Article:
    from local_react.zim.page import is_ambiguous, sections_of

    title = " ".join(page["title"].split())
    return Article(
        title=title,
        source=f"{archive}: {title}",
        sections=sections_of(page["html"]),
        language=language.partition(",")[0] or "en",
        ambiguous=is_ambiguous(page["html"]),
    )
