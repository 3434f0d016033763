"""Many questions from a file, and a file of results that the next call goes on with."""

from local_react.batch.asking import Ask, answered
from local_react.batch.items import Item, Told, read_items
from local_react.batch.results import Done, Results

__all__ = ["Ask", "Done", "Item", "Results", "Told", "answered", "read_items"]
