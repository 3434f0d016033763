"""Asks the questions, several at once, and yields what each came to."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from threading import Event as Flag
from typing import TypeAlias

from local_react.aside import side_by_side
from local_react.batch.items import Item, Told
from local_react.errors import LocalReactError, ModelError, UsageError

Ask: TypeAlias = Callable[[str, Flag], Told]
"""Asks a question; setting the flag ends it at once."""


def answered(
    items: Sequence[Item], ask: Ask, together: int
) -> Generator[tuple[Item, Told], None, None]:
    """Yield what each question came to as they end, so many asked at once. An error of one
    is told, and the others go on. Closing the iterator ends those under way.

    Raises ModelError where the model fails: no other question could be asked then.
    """
    cancel = Flag()
    yield from side_by_side(partial(_put, ask, cancel), items, together, cancel)


def _put(ask: Ask, cancel: Flag, item: Item) -> Told:
    if item.fault:
        return {"error": item.fault, "exit_code": UsageError.exit_code}
    try:
        return ask(item.question, cancel)
    except ModelError:
        raise
    except LocalReactError as error:
        return {"error": str(error), "exit_code": error.exit_code}
    except Exception as error:  # noqa: BLE001 - told in the result; the others go on
        told = f"internal error: {type(error).__name__}: {error}"
        return {"error": told, "exit_code": LocalReactError.exit_code}
