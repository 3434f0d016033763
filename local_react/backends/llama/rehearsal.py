"""The process in which a model's file is tried: what native code does to it, it does here.

It is told how to load the file by one line of JSON on standard input, and answers with one
on standard output: {"error": null}, or why the file cannot be used. Where it ends without an
answer, native code ended it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Final

from local_react.backends.llama.loading import supports_gpu
from local_react.backends.llama.model import LlamaModel
from local_react.core import Message, Sampling
from local_react.errors import ContextFull, ModelError

_GRAMMAR: Final = r"root ::= [^\x00]{0,8}"
_TOKENS: Final = 3


def main() -> None:
    """Try the file that standard input names, and say what came of it."""
    wanted = json.loads(sys.stdin.readline())
    path, limits = Path(os.fsdecode(bytes.fromhex(wanted["path"]))), wanted["limits"]
    _limit(**limits)
    # What native code prints must not be taken for the answer.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    error = _tried(path, wanted["options"])
    answer.write(json.dumps({"error": error}) + "\n")
    answer.flush()
    # What the file has done to the process need not come out now, where it is freed.
    os._exit(0)


def _tried(path: Path, options: Mapping[str, Any]) -> str | None:
    """Return why the file cannot be used, None where it can."""
    try:
        with LlamaModel(path, warm_start=False, trusted=True, **options) as model:
            _ask(model)
    except ContextFull:  # its template is long, which is no fault of the file
        return None
    except ModelError as error:
        return str(error)
    except (Exception, RecursionError) as error:  # noqa: BLE001 - the file is at fault
        return f"{path} cannot be loaded: a question to it failed ({type(error).__name__}: {error})"
    return None


def _ask(model: LlamaModel) -> None:
    """Have the model do once what every question has it do."""
    model.count(every_byte())
    context = model.start([Message("system", "Be brief."), Message("user", "Hello?")])
    for _ in islice(context.generate(_GRAMMAR, Sampling()), _TOKENS):
        pass
    context.append(Message("user", "And now?"))
    for _ in islice(context.generate(None, Sampling(temperature=1.0)), _TOKENS):
        pass


def every_byte() -> str:
    """Return a text that holds every byte that a text in UTF-8 can hold: a vocabulary that
    lacks one may end the process where it occurs."""
    last = [chr(code) for code in range(1, 0x800)]
    more = [chr(code) for code in range(0x800, 0xFFFF, 0x800) if not 0xD800 <= code < 0xE000]
    return "".join((*last, *more, *(chr(code) for code in range(0x10000, 0x110000, 0x30000))))


def _limit(memory: int, seconds: int) -> None:
    """Bound what this process may take, where the system can: bytes of its own, to which the
    mapped file does not count, and seconds of the processors. No dump is left behind."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        if not supports_gpu():  # its driver takes address space without end
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
