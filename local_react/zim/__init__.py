"""ZIM archives: Wikipedia, and much else, in one file that is read without a network.

The files are Kiwix's (format: https://wiki.openzim.org/wiki/ZIM_file_format); libzim
reads them, in a process of its own, because a damaged archive can crash it.
"""

from __future__ import annotations

from local_react.zim.archive import look
from local_react.zim.article import INFOBOX, Article, Nearest, Section, Sentence, split_sentences
from local_react.zim.checking import ArchiveInfo, check
from local_react.zim.folding import fold, key

__all__ = [
    "INFOBOX",
    "ArchiveInfo",
    "Article",
    "Nearest",
    "Section",
    "Sentence",
    "check",
    "fold",
    "key",
    "look",
    "split_sentences",
]
