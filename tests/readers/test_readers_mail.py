"""Messages and rich text."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from local_react.readers import Document, Part, Unreadable, read_bytes


def mail(**headers: str) -> EmailMessage:
    message = EmailMessage()
    for name, value in {
        "From": "Ann Æ <ann@x.test>",
        "To": "bob@y.test",
        "Date": "Mon, 06 May 2024 10:11:12 +0200",
        "Subject": "Trip to 東京 – tickets",
        **headers,
    }.items():
        message[name] = value
    return message


def lines(data: bytes | EmailMessage) -> list[str]:
    (part,) = read_bytes(bytes(data), name="a.eml").parts
    return part.text.split("\n")


HEAD = [
    *("From: Ann Æ <ann@x.test>", "To: bob@y.test", "Date: Mon, 06 May 2024 10:11:12 +0200"),
    "Subject: Trip to 東京 – tickets",
]


def test_a_plain_message() -> None:
    message = mail()
    message.set_content("Hello Bob,\ncafé?\n")
    assert read_bytes(bytes(message), name="a.eml") == Document(
        "Trip to 東京 – tickets",
        "2024-05-06",
        (Part("\n".join([*HEAD, "Hello Bob,", "café?", ""]), "paragraph", 1),),
    )


def test_without_a_name_its_headers_tell() -> None:
    message = mail()
    message.set_content("Hello")
    assert read_bytes(bytes(message)).title == "Trip to 東京 – tickets"
    assert read_bytes(b"From: here\nto there\nis far").parts[0].unit == "line"


def test_alternatives_and_attachments() -> None:
    message = mail()
    message.set_content("plain body")
    message.add_alternative("<p>html body</p>", subtype="html")
    message.add_attachment("col1,col2\n", subtype="csv", filename="tøble.csv")
    message.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="dot.png")
    told = lines(message)
    assert told[:4] == HEAD
    assert [line for line in told[4:] if line] == [
        *("plain body", "Attachment: tøble.csv", "col1,col2", "Attachment: dot.png"),
    ]


def test_only_html_or_an_empty_plain_text() -> None:
    only = mail()
    only.set_content("<p>one</p><p>two</p>", subtype="html")
    both = mail()
    both.set_content(" \n")
    both.add_alternative("<p>one</p><p>two</p>", subtype="html")
    for message in (only, both):
        assert lines(message)[4:] == ["one", "two"]


def test_a_forwarded_message_is_read_too() -> None:
    inner, outer = mail(Subject="Inner"), mail(Subject="Outer")
    inner.set_content("inner text")
    outer.set_content("outer text")
    outer.add_attachment(inner)
    told = [line for line in lines(outer) if line]
    assert told.index("outer text") < told.index("Subject: Inner") < told.index("inner text")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"Subject: caf\xe9\nFrom: a\n\nna\xefve", ["From: a", "Subject: café", "naïve"]),
        (b"Subject: =?utf-8?q?caf=C3=A9?=\n\nx", ["Subject: café", "x"]),
        (b"Subject: =?no-such?q?caf=C3?=\n\nx", ["Subject: =?no-such?q?caf=C3?=", "x"]),
        (
            b"Subject: a\nContent-Type: text/plain; charset=koi8-r\n\n" + "мир".encode("koi8-r"),
            ["Subject: a", "мир"],
        ),
        (
            b"Subject: a\nContent-Type: text/plain; charset=nonsense\n\ncaf\xe9",
            ["Subject: a", "café"],
        ),
        (
            b"Subject: a\nContent-Transfer-Encoding: base64\n\n!!!",
            ["Subject: a", ""],
        ),
        (b"Date: never\nSubject: a\n folded\n\nx", ["Date: never", "Subject: a folded", "x"]),
    ],
)
def test_messages_as_they_come(data: bytes, expected: list[str]) -> None:
    assert lines(data) == expected


@pytest.mark.parametrize("levels", [50, 20_000])
def test_messages_in_messages_without_end(levels: int) -> None:
    part = b"".join(
        b'Content-Type: multipart/mixed; boundary="%d"\n\n--%d\n' % (n, n) for n in range(levels)
    )
    try:
        found = read_bytes(b"Subject: deep\n" + part + b"\n\ntext", name="a.eml")
    except Unreadable as error:
        assert str(error) == "a message nested too deeply"
    else:
        assert found.title == "deep"


@pytest.mark.parametrize(
    "data",
    [
        b"Subject: " + b"=?utf-8?q?" * 20_000 + b"\n\nx",
        b"From: " + b"(" * 50_000 + b"\nSubject: a\n\nx",
        b"Content-Type: multipart/mixed\nSubject: a\n\n--x\n",
        b"Content-Type: message/rfc822\nSubject: a\n\n",
        b"Content-Type: text/plain; name*0*=x''%ff; name*1=\"\nSubject: a\n\nx",
        b"\n\nSubject: no headers",
        b"Subject: =?utf-8?b?x?=\nFrom: =?ut\xe9?b?eA==?=\n\nx",
        b"Subject: a\nContent-Type: text/plain; charset=a\x00b\n\nx",
        b"Subject: a\nContent-Disposition: attachment; filename*=ut\xe9''x\n\nx",
    ],
)
def test_hostile_messages_are_read_or_refused(data: bytes) -> None:
    try:
        assert read_bytes(data, name="a.eml").parts[0].text
    except Unreadable as error:
        assert "\n" not in str(error)


def test_rich_text() -> None:
    data = (
        rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\info{\title No}}"
        rb"\f0 Caf\'e9 \b bold\b0\par "
        rb"smile \u-10179?\u-8704? and \u1084?\par {\field{\*\fldinst{HYPERLINK "
        rb'"http://x.test"}}{\fldrslt a link}}}'
    )
    found = read_bytes(data, name="a.txt")
    assert found.parts[0].unit == "paragraph"
    told = found.parts[0].text.split("\n")
    assert told[:2] == ["Café bold", "smile 😀 and м"]
    assert "a link" in told[2]


def test_fonts_of_rich_text_have_their_character_sets() -> None:
    data = (
        rb"{\rtf1{\fonttbl{\f0\fswiss{\*\panose 020b}\fcharset0 Arial;}"
        rb"{\f1\fcharset204 Cyr{\*\falt x};}}\f1\'cc\'e8\'f0 \f0\'e9}"
    )
    assert read_bytes(data).parts[0].text == "Мир é"


@pytest.mark.parametrize(
    "data",
    [
        rb"{\rtf1 {\pict\bin x}}",
        rb"{\rtf1 \u99999999 x}",
        rb"{\rtf1 \'zz \uc x}",
        rb"{\rtf1\ansicpg99999 \'e9}",
        rb"{\rtf1{\fonttbl{\f0\fcharset78 x;}}\f0 \'82\'a0}",
        b"{\\rtf1 {\\fonttbl" + rb"\f0\fcharset1" * 3000 + b"}",
        b"{\\rtf1 " + b"{" * 100_000,
        b"{\\rtf1 " + rb'{\field{\*\fldinst{HYPERLINK "' * 3000,
        b"{\\rtf1",
    ],
)
def test_broken_rich_text_is_read_or_refused(data: bytes) -> None:
    try:
        assert read_bytes(data).parts[0].text
    except Unreadable as error:
        assert "\n" not in str(error)
