"""What kind of file it is: by what it begins with, then by its name."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import PurePath

from local_react.readers.document import Unreadable

_SUFFIXES = {
    "html": "html htm xhtml xht shtml",
    "pdf": "pdf",
    "docx": "docx docm dotx dotm",
    "odt": "odt ott ods odp",
    "epub": "epub",
    "eml": "eml",
    "rtf": "rtf",
}
_KINDS = {suffix: kind for kind, all_ in _SUFFIXES.items() for suffix in all_.split()}

_NOT_TEXT = frozenset(
    """
    png jpg jpeg jpe jfif gif bmp dib tif tiff webp avif heic heif jxl ico icns cur svg svgz psd
    psb ai eps xcf kra raw cr2 cr3 nef arw dng orf raf rw2 exr hdr tga dds pcx ppm pgm pbm emf wmf
    mp3 m4a aac ogg oga opus flac wav aif aiff wma mid midi amr mp4 m4v mov avi mkv webm wmv flv
    mpg mpeg 3gp ogv vob
    zip gz tgz bz2 tbz tbz2 xz txz zst tzst lz lz4 lzma lzo z 7z rar tar cab iso img dmg jar war
    ear apk aab ipa deb rpm msi msix appimage snap whl egg crx xpi nupkg cpio ar par2 zim
    exe dll so dylib sys com bin o obj a lib pyc pyo pyd class wasm elf ko efi rom hex dex node pdb
    gguf ggml safetensors pt pth ckpt onnx tflite h5 hdf5 keras pb mlmodel npy npz pkl pickle joblib
    parquet feather arrow orc avro rdata rds mat fits nc
    db db3 sqlite sqlite3 sqlite-wal sqlite-shm mdb accdb frm ibd myd myi dbf ldb
    ps pst ost vsd vsdx pub
    one mobi azw azw3 kfx djvu djv xps oxps chm lit
    ttf otf ttc woff woff2 eot pfb pfm
    swp swo part crdownload tmp cache p12 pfx jks keystore kdbx gpg pgp der
    blend fbx glb stl 3ds max dwg skp unitypackage asset pak wad sav
    """.split()
)
"""Suffixes of pictures, sound, archives, programs, models, databases, fonts and formats
that nothing here reads."""

_CODE = frozenset(
    """
    php phtml vue svelte jsx tsx js mjs cjs ts erb ejs hbs handlebars mustache j2 jinja jinja2 tmpl
    tpl twig liquid jsp jspx asp aspx cshtml razor haml pug astro xsl xslt py rb pl go rs java kt
    scala c h cc cpp hpp cs swift lua sh r sql ipynb json jsonl
    """.split()
)
"""Suffixes of files that may begin like a web page, but are read as they stand."""

_TYPES = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "message/rfc822": "eml",
}

_PICTURE = "a picture, not text"
_SOUND = "sound or video, not text"
_ARCHIVE = "an archive: unpack it and add what it holds"
_PROGRAM = "a program, not text"
_MODEL = "a model, not text"
_DATABASE = "a database, not text"
_FONT = "a font, not text"
_OLD_OFFICE = "an old or encrypted Office or Outlook file: save it as .docx, PDF or text"

_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG", _PICTURE),
    (0, b"\xff\xd8\xff", _PICTURE),
    (0, b"GIF8", _PICTURE),
    (0, b"II*\x00", _PICTURE),
    (0, b"MM\x00*", _PICTURE),
    (0, b"\x00\x00\x01\x00", _PICTURE),
    (8, b"WEBP", _PICTURE),
    (4, b"ftypavif", _PICTURE),
    (4, b"ftyphei", _PICTURE),
    (4, b"ftyp", _SOUND),
    (8, b"WAVE", _SOUND),
    (8, b"AVI ", _SOUND),
    (0, b"ID3", _SOUND),
    (0, b"OggS", _SOUND),
    (0, b"fLaC", _SOUND),
    (0, b"\x1aE\xdf\xa3", _SOUND),
    (0, b"\x1f\x8b", _ARCHIVE),
    (0, b"BZh", _ARCHIVE),
    (0, b"\xfd7zXZ\x00", _ARCHIVE),
    (0, b"7z\xbc\xaf\x27\x1c", _ARCHIVE),
    (0, b"\x28\xb5\x2f\xfd", _ARCHIVE),
    (0, b"Rar!\x1a", _ARCHIVE),
    (257, b"ustar", _ARCHIVE),
    (0, b"\x7fELF", _PROGRAM),
    (0, b"MZ\x90\x00", _PROGRAM),
    (0, b"\xcf\xfa\xed\xfe", _PROGRAM),
    (0, b"\xca\xfe\xba\xbe", _PROGRAM),
    (0, b"\x00asm", _PROGRAM),
    (0, b"GGUF", _MODEL),
    (0, b"\x89HDF", _MODEL),
    (0, b"SQLite format 3\x00", _DATABASE),
    (0, b"wOF", _FONT),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _OLD_OFFICE),
)
"""Where and how such files begin."""

HEAD = 4096
"""Bytes of a file that `kind` asks for."""

_PAGE = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*(?:<!doctype\s+html|<html[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_HEADER = re.compile(
    rb"(?:Return-Path|Received|Delivered-To|MIME-Version|From|To|Date|Subject|Message-ID|"
    rb"X-[A-Za-z-]+|DKIM-Signature):[ \t]",
    re.IGNORECASE,
)


def kind_of(path: str | PathLike[str]) -> str | None:
    """Return the kind of file that its name promises: "text", "html", "pdf", "docx",
    "odt", "epub", "eml" or "rtf"; None for a picture, archive, program, model or anything
    else that there is no reader for. An unknown suffix, or none, is "text": its content
    decides."""
    suffix = _suffix(str(path))
    return None if suffix in _NOT_TEXT else _KINDS.get(suffix, "text")


def kind(head: bytes, name: str = "", content_type: str = "") -> str:
    """Return the kind by the first HEAD bytes, then the name, then the MIME type; "zip"
    for what is packed in one, be it a book, a letter or only an archive.

    Raises Unreadable, with what it is, for what is never text.
    """
    suffix = _suffix(name)
    packed = _packed(head, suffix)
    if packed:
        return packed
    named = _KINDS.get(suffix, "")
    if named in ("html", "eml"):
        return named
    if suffix not in _CODE and _PAGE.match(_rough_text(head)):
        return "html"
    if not suffix or suffix not in _KINDS:
        typed = _TYPES.get(content_type.partition(";")[0].strip().casefold(), "")
        if typed in ("html", "eml"):
            return typed
    return "eml" if not suffix and _is_mail(head) else "text"


def _packed(head: bytes, suffix: str) -> str:
    """Return the kind that the first bytes leave no doubt of."""
    start = head.lstrip(b"\xef\xbb\xbf\x00\t\n\r\f ")
    if start.startswith(b"%PDF-") or (suffix == "pdf" and b"%PDF-" in head[:1024]):
        return "pdf"
    if start.startswith(b"{\\rtf"):
        return "rtf"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    for at, magic, reason in _MAGIC:
        if head.startswith(magic, at):
            raise Unreadable(reason)
    return ""


def _suffix(name: str) -> str:
    # A dot file such as .bashrc has none; a version such as app.log.1 is its own text.
    return PurePath(name).suffix[1:].casefold()


def _rough_text(head: bytes) -> str:
    """Return the first characters well enough to see markup, in any encoding."""
    return head.replace(b"\x00", b"").lstrip(b"\xef\xbb\xbf\xff\xfe").decode("latin-1")


def _is_mail(head: bytes) -> bool:
    """Say whether it begins with the headers of a message (RFC 5322), three at least."""
    lines = re.split(rb"\r?\n(?![ \t])", head)[:12]
    headers = 0
    for line in lines:
        if not _HEADER.match(line):
            break
        headers += 1
    return headers >= 3
