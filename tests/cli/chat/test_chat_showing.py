"""How a chat looks: lines that are written anew, folded steps, Markdown."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pyte
import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.output.vt100 import Vt100_Output
from rich.cells import cell_len

from local_react.cli.chat.markdown import is_markdown, show_markdown
from local_react.cli.chat.region import Line, Region
from local_react.cli.chat.telling import cut, folded, waiting, written
from local_react.core import Action, Call, Finish, Malformed, Step


class Screen:
    """A terminal of so many columns and rows, and a region at its end."""

    def __init__(self, columns: int = 20, rows: int = 6) -> None:
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.Stream(self._screen)
        self._file = io.StringIO()
        self.resize(columns)
        self.region = Region(Vt100_Output(self._file, self._size, term="xterm"))

    def _size(self) -> Size:
        return Size(self._screen.lines, self._screen.columns)

    def resize(self, columns: int) -> None:
        self._screen.resize(self._screen.lines, columns)

    def show(self, *texts: str) -> list[str]:
        self.region.show([Line(text, dim=text.startswith("d")) for text in texts])
        return self.lines

    def type(self, text: str) -> None:
        self._stream.feed(text)

    @property
    def lines(self) -> list[str]:
        """The lines down to the last that holds something."""
        self._stream.feed(self._file.getvalue())
        self._file.seek(0)
        self._file.truncate()
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip().split("\n")

    @property
    def cursor(self) -> tuple[int, int]:
        assert self.lines is not None
        return self._screen.cursor.y, self._screen.cursor.x


@pytest.mark.parametrize("before", [["$ x"], []])
def test_a_region_grows_changes_shrinks_and_goes(before: Sequence[str]) -> None:
    screen = Screen()
    for line in before:
        screen.type(f"{line}\r\n")
    start = len(before)
    for texts in (["a"], ["ab"], ["ab", "c"], ["ab", "cd", "d"], ["x", "cd"], ["x"], ["x", "y"]):
        assert screen.show(*texts) == [*before, *texts]
        assert screen.cursor == (start + len(texts) - 1, len(texts[-1]))
    screen.region.clear()
    assert screen.cursor == (start, 0)
    assert screen.lines == (list(before) or [""])


def test_a_region_scrolls_at_the_end_of_the_screen() -> None:
    screen = Screen(rows=4)
    screen.type("one\r\ntwo\r\nthree\r\n")
    assert screen.show("a", "b") == ["two", "three", "a", "b"]
    assert screen.show("a", "c") == ["two", "three", "a", "c"]
    assert screen.region.rows == 2


def test_on_a_terminal_that_became_narrower_nothing_of_before_is_taken_away() -> None:
    screen = Screen(columns=20)
    screen.type("$ question\r\n")
    screen.show("what is written is", "here")
    screen.resize(12)
    assert screen.region.is_too_wide
    assert screen.show("narrow", "lines") == [
        "$ question", "what is writ", "here", "narrow", "lines",
    ]  # fmt: skip
    screen.show("narrow")
    assert screen.lines[-2:] == ["here", "narrow"]


def test_on_a_terminal_that_became_wider_all_is_taken_away() -> None:
    screen = Screen(columns=12)
    screen.show("narrow", "lines")
    screen.resize(20)
    assert screen.show("what is written now") == ["what is written now"]


def test_a_region_steers_nothing() -> None:
    screen = Screen()
    assert screen.show("a\x1b[2Jb") == ["a?[2Jb"]


def step(action: Action, observation: str | None = "12", thought: str = "t") -> Step:
    return Step(thought, action, observation)


@pytest.mark.parametrize(
    ("one", "line"),
    [
        (step(Call("calculator", {"expression": "15% of 80"})),
         '  · calculator {"expression": "15% of 80"} → 12'),
        (step(Call("time", {}), "two\nlines\x1b[2J"), "  · time {} → two lines[2J"),
        (step(Finish("12"), None), ""),
        (step(Malformed("x", "it was cut"), None), ""),
        (step(Finish("12"), "3 * 5 is 15"), "  · answer 12 → 3 * 5 is 15"),
        (step(Malformed("x", "it was cut"), "write less"),
         "  · not understood it was cut → write less"),
    ],
)  # fmt: skip
def test_a_step_is_folded_to_a_line(one: Step, line: str) -> None:
    assert folded(one, 80) == line


@pytest.mark.parametrize("width", [*range(12), 30, 79])
@pytest.mark.parametrize("text", ["abc " * 90, "東京は晴れ" * 40, "🙂é" * 60])
def test_a_folded_step_is_never_wider_than_the_terminal(width: int, text: str) -> None:
    line = folded(step(Call("search", {"query": text}), text), width)
    assert cell_len(line) <= width
    if width >= 30:
        assert " → " in line  # something of both is seen
        assert line.endswith("…")


def test_what_fits_is_not_cut() -> None:
    assert [cut("abc", width) for width in (0, 1, 2, 3)] == ["", "…", "a…", "abc"]


def test_what_is_written_is_shown_as_far_as_it_is() -> None:
    def shown(text: str, rows: int = 9) -> list[tuple[str, bool]]:
        return [tuple(line) for line in written(text, 12, rows)]  # type: ignore[misc]

    assert shown("") == []
    assert shown("Thought: it is a long one") == [("it is a long", True), ("one", True)]
    assert shown('Thought: a\nAction: calculator {"e') == [("a", True), ("  · calcula…", True)]
    assert shown('Thought: a\nAction: Finish {"answer": "it\\nis') == [
        ("a", True), ("it", False), ("is", False),
    ]  # fmt: skip
    assert shown("Thought: one two three four five six", rows=1) == [("five six", True)]
    assert shown("Thoug") == []
    assert shown('Thought: a\nAction: Finish {"an') == [("a", True)]
    assert shown("Thought: a\nActio") == [("a", True)]
    assert shown("<think>hm</think>\n\nThought: a") == [("a", True)]


@pytest.mark.parametrize("columns", [1, 5, 29])
def test_what_is_written_fits_a_narrow_terminal(columns: int) -> None:
    text = 'Thought: 東京は晴れ and averyveryverylongword\nAction: search {"query": "東京"}'
    assert all(cell_len(line.text) <= columns for line in written(text, columns, 50))
    assert all(cell_len(line.text) <= columns for line in waiting("reading", columns, 3))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("12", False),
        ("3 * 4 * 5 = 60, snake_case_name", False),
        ("a <b> c", False),
        ("- one\n- two", True),
        ("# Head", True),
        ("It is **bold**.", True),
        ("Use `x`.", True),
        ("1. one", True),
        ("#5 is alive", False),
    ],
)
def test_what_is_meant_as_markdown_is_told(text: str, meant: bool) -> None:
    assert is_markdown(text) == meant


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("**bold** and 3*4*5", ["bold and 3*4*5"]),
        ("`x` in snake_case_name_here", ["x in snake_case_name_here"]),
        ("Use `<p>` or <br> and <script>x</script>", ["Use <p> or <br> and <script>x</script>"]),
        ("`a`\none\ntwo", ["a", "one", "two"]),
        ("- one\n- two", [" • one", " • two"]),
        ("[here](http://a.example)", ["here (http://a.example)"]),
    ],
)
def test_markdown_is_rendered_and_nothing_gets_lost(
    text: str, seen: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    show_markdown(text)
    out = capsys.readouterr().out
    assert [line.rstrip() for line in out.splitlines() if line.strip()] == seen


def test_code_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    show_markdown("```python\nx = a*b*c\n```")
    assert "x = a*b*c" in capsys.readouterr().out
