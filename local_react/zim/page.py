"""A page of HTML, as Wikipedia writes it, made into sections of text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import lxml.etree
import lxml.html

from local_react.zim.article import INFOBOX, Section


def _names_in(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DROPPED_TAGS: Final = _names_in(
    "script style noscript template nav header footer form button input select textarea "
    "iframe object audio video img svg math figure figcaption head link meta"
)
_DROPPED_CLASSES: Final = _names_in(
    "noprint navbox navbox-styles vertical-navbox sidebar metadata ambox hatnote dablink toc "
    "reference references reflist mw-references-wrap mw-editsection mw-cite-backlink "
    "mw-jump-link mw-indicators catlinks printfooter shortdescription nomobile thumb gallery "
    "portalbox sistersitebox side-box authority-control navigation-not-searchable "
    "mw-empty-elt error sortkey Z3988 geo-nondefault"
)
_DROPPED_IDS: Final = _names_in("toc coordinates siteSub catlinks mw-navigation footer")
_BLOCKS: Final = _names_in(
    "address article aside blockquote body caption center dd details div dl dt fieldset "
    "hr li main ol p pre section summary table tbody tfoot thead ul tr"
)
_CELLS: Final = frozenset({"td", "th"})
_HEADINGS: Final = frozenset({"h2", "h3", "h4", "h5", "h6"})
_AMBIGUOUS: Final = frozenset({"dmbox", "disambig", "disambigbox", "dmbox-disambig"})


def sections_of(html: str) -> tuple[Section, ...]:
    """Return the text of a page, section by section, its table of facts second; nothing
    of what is for finding one's way (menus, references, links to edit) or is hidden."""
    root = _parsed(html)
    if root is None:
        return ()
    for element in [element for element in root.iter() if _is_dropped(element)]:
        if element.getparent() is not None:
            _drop(element)
    content = root.find(".//*[@id='mw-content-text']")
    writer = _Writer()
    writer.read(root if content is None else content)
    return writer.sections()


def is_ambiguous(html: str) -> bool:
    """Return whether a page says that it only lists what its title may mean."""
    if "disambig" not in html and "dmbox" not in html:
        return False
    root = _parsed(html)
    if root is None:
        return False
    return any(
        element.get("property") == "mw:PageProp/disambiguation" or _names(element) & _AMBIGUOUS
        for element in root.iter(lxml.etree.Element)
    )


def _parsed(html: str) -> lxml.html.HtmlElement | None:
    parser = lxml.html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    data = html.encode("utf-8", "replace")
    try:
        return lxml.html.document_fromstring(data, parser=parser)
    except lxml.etree.ParserError:  # nothing in it
        return None


def _names(element: lxml.etree._Element) -> frozenset[str]:
    return frozenset((element.get("class") or "").split()) | {element.get("id") or ""}


def _is_dropped(element: lxml.etree._Element) -> bool:
    style = (element.get("style") or "").replace(" ", "").casefold()
    names = _names(element)
    return (
        element.tag in _DROPPED_TAGS
        or not names.isdisjoint(_DROPPED_CLASSES)
        or not names.isdisjoint(_DROPPED_IDS)
        or "display:none" in style
        or "visibility:hidden" in style
        or "hidden" in element.attrib
        or element.get("role") == "navigation"
    )


def _drop(element: lxml.etree._Element) -> None:
    """Remove an element, but not the text after it."""
    tail = _formula(element) + (element.tail or "")
    parent, before = element.getparent(), element.getprevious()
    if before is not None:
        before.tail = (before.tail or "") + tail
    elif parent is not None:
        parent.text = (parent.text or "") + tail
    if parent is not None:
        parent.remove(element)


def _formula(element: lxml.etree._Element) -> str:
    """Return what a formula says in TeX, if the element is one: as MathML, or as the
    picture that stands beside it when it is hidden."""
    if element.tag == "math":
        tex = element.get("alttext") or ""
    elif element.tag == "img" and "mwe-math" in (element.get("class") or ""):
        tex = element.get("alt") or ""
    else:
        return ""
    tex = tex.strip().removeprefix("{\\displaystyle").removesuffix("}").strip()
    return f" {tex} "


@dataclass
class _Writer:
    """Gathers the text between two edges of blocks into paragraphs; in a table's row,
    what is within stays one line."""

    _done: list[tuple[str, list[str]]] = field(default_factory=lambda: [("", [])])
    _facts: list[str] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _rows: list[bool] = field(default_factory=list)
    """For each row that is open, whether it is one of a table of facts."""
    _tables: list[bool] = field(default_factory=list)

    def read(self, root: lxml.etree._Element) -> None:
        for event, element in lxml.etree.iterwalk(root, events=("start", "end")):
            tag = element.tag if isinstance(element.tag, str) else ""
            if event == "start":
                self._enter(tag, element)
                self._text.append(element.text or "")
            else:
                self._leave(tag)
                if element is not root:
                    self._text.append(element.tail or "")
        self._flush()

    def sections(self) -> tuple[Section, ...]:
        facts = [(INFOBOX, self._facts)]
        ordered = [*self._done[:1], *facts, *self._done[1:]]
        return tuple(Section(heading, tuple(texts)) for heading, texts in ordered if texts)

    def _enter(self, tag: str, element: lxml.etree._Element) -> None:
        if tag == "table":
            self._flush_outside_rows()
            self._tables.append(any("infobox" in name for name in _names(element)))
        elif tag == "tr" and self._tables:
            self._flush_outside_rows()
            self._rows.append(self._tables[-1])
        elif tag in _CELLS and self._rows:
            self._separate(": " if self._rows[-1] else " | ")
        elif tag in _BLOCKS or tag in _HEADINGS:
            self._edge()
        elif tag == "h1":
            self._flush_outside_rows()
        elif tag == "br":
            self._text.append(", " if self._rows else " ")

    def _leave(self, tag: str) -> None:
        if tag == "table" and self._tables:
            self._tables.pop()
            self._edge()
        elif tag == "tr" and self._rows:
            facts = self._rows.pop()
            if not self._rows:
                self._flush(facts)
        elif tag == "h1":
            self._text.clear()  # the title, which is known
        elif tag in _HEADINGS and not self._rows:
            heading = self._taken()
            self._done.append((heading, []))
        elif tag in _BLOCKS:
            self._edge()

    def _edge(self) -> None:
        """End a paragraph; within a row, only tell two pieces apart."""
        if self._rows:
            self._separate("; ")
        else:
            self._flush()

    def _separate(self, sign: str) -> None:
        if (said := "".join(self._text).rstrip()) and not said.endswith((":", "|", ";", ",")):
            self._text = [said, sign]

    def _flush_outside_rows(self) -> None:
        if not self._rows:
            self._flush()

    def _flush(self, facts: bool = False) -> None:
        if text := self._taken():
            (self._facts if facts else self._done[-1][1]).append(text)

    def _taken(self) -> str:
        text = " ".join("".join(self._text).split()).strip(" ;|,")
        self._text.clear()
        return text
