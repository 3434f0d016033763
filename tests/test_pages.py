"""What README.md and docs/ say is run, and what they name is there."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
import tiny_model
from docs_pages import PAGES, ROOT, commands, every_command, options, resolved
from docs_stage import SMALL, Stage

from local_react.catalog import load_catalogue, models_dir, resolve
from local_react.cli.commands import COMMANDS
from local_react.cli.defaults import lasting_settings
from local_react.errors import ModelError
from local_react.settings import OTHER_VARIABLES

WITH_COMMANDS = [page for page in PAGES if next(commands(page), None)]
_PIP = ("--extra-index-url", "--force-reinstall", "--no-cache-dir", "--no-deps")
OF_OTHERS = {*_PIP, "--install", "--seconds", "--set", "--check"}
"""Options of pip, Xcode and the benchmarks, which the pages name too."""


@pytest.fixture(scope="session")
def roomy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GGUF of random weights with room for all tools: its tokens are single bytes."""
    if sys.platform == "win32" or not shutil.which("bash"):
        pytest.skip("SKIPPED, no bash: the commands of the pages are not run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiny_model, "CONTEXT", 16384)
        return tiny_model.write_tiny_model(tmp_path_factory.mktemp("models") / "roomy.gguf")


@pytest.fixture
def stage(tmp_path: Path, roomy: Path) -> Stage:
    """Where commands are run."""
    return Stage.built(tmp_path, roomy)


@pytest.fixture(scope="module")
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, roomy: Path
) -> Iterator[Mapping[str, Future[None]]]:
    """The pages that are wanted, each on a stage of its own, as many at once as there are
    CPUs: most of the time a command only starts."""
    names = {item.name for item in request.session.items}
    wanted = [page for page in WITH_COMMANDS if f"{RUNNING}[{page}]" in names]
    stages = {page: Stage.built(tmp_path_factory.mktemp("stage"), roomy) for page in wanted}
    pool = ThreadPoolExecutor(os.cpu_count())
    yield {page: pool.submit(play, page, stage) for page, stage in stages.items()}
    pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_the_commands_run_of(page: str, running: Mapping[str, Future[None]]) -> None:
    running[page].result()


RUNNING = test_the_commands_run_of.__name__


def play(page: str, stage: Stage) -> None:
    """Run the commands of a page. Raises AssertionError where one does not go as it says."""
    for text, name in re.findall(r'```python\n("""(\w+\.py)""".*?)```', PAGES[page], re.DOTALL):
        (stage.folder / name).write_text(text, "utf-8")
    for command in commands(page):
        if command.hinderance or command.takes_model:
            continue
        printed = stage.played(command)
        if command.output and not command.asks:
            assert is_like(command.output, printed), f"{command.text}\n{printed}"


def is_like(shown: str, printed: str) -> bool:
    """Return whether a page shows what was printed; ... stands for anything."""
    pattern = ".*".join(map(re.escape, shown.rstrip().split("...")))
    return bool(re.fullmatch(pattern, printed.rstrip(), re.DOTALL))


@pytest.mark.model
def test_what_takes_a_model_of_the_catalogue_runs(stage: Stage, models: None) -> None:
    there = resolved_or_skipped(SMALL)
    shutil.copyfile(there, stage.folder / "models" / there.name)
    those = [one for page in PAGES for one in commands(page) if one.takes_model]
    assert len(those) >= 3
    for command in those:
        stage.played(command)


@pytest.mark.model
def test_readme_shows_what_the_default_model_says(stage: Stage, models: None) -> None:
    resolved_or_skipped(load_catalogue().default)
    command = next(one for one in commands("README.md") if one.output)
    quick = {
        f"LOCAL_REACT_{name}": None for name in ("MODEL", "VOTES", "MAX_STEPS", "THOUGHT_TOKENS")
    }
    done = stage.ran(command, **quick, LOCAL_REACT_MODELS=str(models_dir()))
    lines = [line for line in done.stdout.splitlines() if "is kept in" not in line]
    assert is_like(command.output, "\n".join(lines))


def resolved_or_skipped(name: str) -> Path:
    try:
        return resolve(name)
    except ModelError as error:
        pytest.skip(f"SKIPPED, the model is missing: {error}")


def test_what_cannot_be_run_here_names_what_there_is() -> None:
    for page in WITH_COMMANDS:
        for command in commands(page):
            for file in re.findall(r"\b(?:scripts|bench)/\S+\.py", command.text):
                assert (ROOT / file).is_file(), f"{page}: {file}"
            for words in command.programs:
                assert not unknown_options(words), f"{page}: {command.text}"


def unknown_options(words: list[str]) -> set[str]:
    """Return the options in a command line that its command does not have."""
    command, _, rest = resolved(words)
    rest = rest[: rest.index("--")] if "--" in rest else rest
    named = {word.partition("=")[0] for word in rest if re.match(r"--?[a-zA-Z]", word)}
    named = {"-v" if name == "-vv" else name for name in named}
    return named - options(command)


def test_no_command_is_left_over_in_another_kind_of_block() -> None:
    for page, text in PAGES.items():
        assert not re.findall(r"^    (?:local-react|python3|\$) .*", text, re.MULTILINE), page


def test_each_option_that_is_named_exists() -> None:
    known = {name for _, command in every_command() for name in options(command)}
    for page, text in PAGES.items():
        ours = re.sub(r"^\$ uv .*", "", text, flags=re.MULTILINE)
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", ours))
        assert named <= known | OF_OTHERS, page


def test_each_variable_that_is_named_exists() -> None:
    known = {setting.variable for setting in lasting_settings()} | OTHER_VARIABLES
    for page, text in PAGES.items():
        assert {*re.findall(r"LOCAL_REACT_[A-Z_]*[A-Z]", text)} <= known, page


def test_each_command_is_told_of() -> None:
    told = " ".join(" ".join(PAGES.values()).split())
    untold = [name for name, _ in every_command() if not re.search(rf"\b{name}\b", told)]
    assert not untold
    assert not [name for name in COMMANDS if f"local-react {name}" not in told]


def test_each_page_is_in_the_list_of_readme() -> None:
    index = PAGES["README.md"].split("## A page for each task")[1]
    assert {page for page in PAGES if page != "README.md"} == {
        *re.findall(r"\((docs/\w+\.md)\)", index)
    }


def links() -> Iterator[tuple[str, str]]:
    for page, text in PAGES.items():
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if "://" not in target:
                yield page, target


@pytest.mark.parametrize(("page", "target"), sorted(set(links())))
def test_links_lead_somewhere(page: str, target: str) -> None:
    name, _, anchor = target.partition("#")
    path = (ROOT / page).parent / name if name else ROOT / page
    assert path.is_file()
    if anchor:
        headings = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.MULTILINE)
        assert anchor in map(slug, headings)


def slug(heading: str) -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[^\w -]", "", heading.casefold()).replace(" ", "-")


def test_a_page_is_short() -> None:
    for page, text in PAGES.items():
        most = 250 if page == "README.md" else 100
        assert len(text.splitlines()) <= most, page


def test_the_conversation_in_python_goes_as_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    program = next(
        one
        for one in re.findall(r"```python\n(.*?)```", PAGES["docs/python.md"], re.DOTALL)
        if "ScriptedModel" in one
    )
    exec(compile(program, "docs/python.md", "exec"), {})  # noqa: S102 - it is our own page
    assert capsys.readouterr().out.split() == ["391", "782"]
