"""Readers: the text that a file or a download holds, with the place of each stretch.

They get bytes from anywhere, so they expect the worst: every size is limited, nothing in
a file is run, fetched or written, and what can't be read is an Unreadable with its reason.
"""

from local_react.readers.document import Document, Part, Unreadable
from local_react.readers.kinds import kind_of
from local_react.readers.opening import opened
from local_react.readers.reading import read_bytes, read_file, read_opened, text_of

__all__ = [
    "Document",
    "Part",
    "Unreadable",
    "kind_of",
    "opened",
    "read_bytes",
    "read_file",
    "read_opened",
    "text_of",
]
