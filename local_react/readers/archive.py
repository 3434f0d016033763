"""Files that are zip archives inside: Word, OpenDocument, EPUB.

Their entries are read into memory by name and never written anywhere, and no more is
unpacked than the limits allow, whatever sizes the archive claims.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from io import BytesIO

from local_react.readers.document import MIB, Unreadable

_MOST_UNPACKED = 100 * MIB
_MOST_ENTRIES = 20_000
_MOST_RATIO = 250
"""Text of markup packs to about a tenth, the worst of tables to a hundredth."""
_FREE = MIB
"""Up to this size an entry may be packed as tightly as it likes."""
_BOMB = "unpacks to far more than its size: left alone"
_DAMAGED = "damaged or cut off: fetch or save it again"

_ENTRY = b"PK\x01\x02"


class Archive:
    """A zip archive in memory, and what may still be unpacked of it.

    Raises Unreadable where it isn't whole, or holds more entries than any document.
    """

    def __init__(self, data: bytes) -> None:
        if data.count(_ENTRY) > _MOST_ENTRIES:  # before zipfile makes an object of each
            raise Unreadable(f"an archive of more than {_MOST_ENTRIES} entries: left alone")
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
            self.names = tuple(self._zip.namelist())
        except (
            zipfile.BadZipFile,
            struct.error,
            ValueError,
            NotImplementedError,
            OSError,
        ) as error:
            raise Unreadable(_DAMAGED) from error
        self._left = _MOST_UNPACKED

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def read(self, name: str) -> bytes:
        """Return an entry's bytes; none where there is no such entry.

        Raises Unreadable where it is damaged, encrypted, or too large unpacked.
        """
        try:
            info = self._zip.getinfo(name)
        except KeyError:
            return b""
        if info.flag_bits & 1:
            raise Unreadable("encrypted: save it without a password")
        ratio_limit = max(_FREE, _MOST_RATIO * info.compress_size)
        if info.file_size > min(self._left, ratio_limit):
            raise Unreadable(_BOMB)
        data = self._unpack(info)
        self._left -= len(data)
        return data

    def _unpack(self, info: zipfile.ZipInfo) -> bytes:
        try:
            with self._zip.open(info) as entry:
                data = entry.read(info.file_size + 1)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            RuntimeError,
            ValueError,
        ) as error:
            raise Unreadable(_DAMAGED) from error
        if len(data) > info.file_size:
            raise Unreadable(_BOMB)
        return data
