"""`local-react config`, and that the options of a question are the settings."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import click
import pytest

import local_react
from local_react.cli.ask import ask
from local_react.cli.config import config
from local_react.cli.defaults import NOT_LASTING, default_map, lasting_settings, settings_of
from local_react.errors import UsageError
from local_react.settings import OTHER_VARIABLES, PREFIX
from local_react.settings.files import PROJECT_NAME
from local_react.settings.reading import validated
from local_react.settings.sharing import HARMLESS, ONLY

Run = Callable[..., str]


@pytest.fixture(autouse=True)
def home(own_places: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home directory of this test's own, in which we are, and nothing that is set."""
    kept = ("LOCAL_REACT_CONFIG", "LOCAL_REACT_DATA_DIR", "LOCAL_REACT_CACHE")
    for name in os.environ:
        if name.startswith(PREFIX) and name not in kept:
            monkeypatch.delenv(name)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command and gives its output."""

    def call(*arguments: str) -> str:
        assert not config.main(list(arguments), standalone_mode=False)
        return capsys.readouterr().out

    return call


def asked(*arguments: str) -> dict[str, Any]:
    """Return what the options of a question are."""
    context = ask.make_context("ask", [*arguments, "q"], default_map=default_map(ask))
    return context.params


def test_every_option_of_a_question_can_be_set_or_is_known_not_to_last() -> None:
    keys = {setting.key for setting in lasting_settings()}
    for option in ask.params:
        if isinstance(option, click.Option) and option.expose_value:
            long = [name[2:].replace("-", "_") for name in option.opts if name.startswith("--")]
            assert {*long} & (keys | NOT_LASTING), option.opts
    assert keys >= HARMLESS | ONLY.keys() | {"model"}
    assert not keys & NOT_LASTING


def test_an_option_of_any_kind_becomes_a_setting() -> None:
    options = [
        click.Option(["-a", "--one-word"], help="Do\n  it."),
        click.Option(["--whole"], type=click.IntRange(1, 5), default=2),
        click.Option(["--part"], type=click.FloatRange(0, 1)),
        click.Option(["--flag"], is_flag=True),
        click.Option(["--on/--no-on"], default=None),
        click.Option(["-v", "--verbose"], count=True),
        click.Option(["--many"], multiple=True),
        click.Option(["--choice"], type=click.Choice(["a", "b"])),
        click.Option(["--named"], envvar="LOCAL_REACT_OTHERWISE"),
        click.Option(["--json"], is_flag=True),
        click.Option(["--pair"], nargs=2),
        click.Option(["-s"]),
        click.Option(["--hidden"], expose_value=False),
    ]
    settings = settings_of(click.Command("any", params=[*options, click.Argument(["words"])]))
    assert [(each.key, each.hint, each.default) for each in settings] == [
        ("one_word", str, None),
        ("whole", int, 2),
        ("part", float, None),
        ("flag", bool, False),
        ("on", bool, None),
        ("verbose", int, 0),
        ("many", list[str], []),
        ("choice", Literal["a", "b"], None),
        ("named", str, None),
    ]
    assert (settings[0].variable, settings[0].about) == ("LOCAL_REACT_ONE_WORD", "Do it.")
    assert settings[-1].variable == "LOCAL_REACT_OTHERWISE"
    with pytest.raises(UsageError, match=r"whole cannot be used: 9 is not in the range 1<=x<=5"):
        validated(settings[1], "9")


def test_a_path_that_lasts_is_a_whole_one(tmp_path: Path) -> None:
    option = click.Option(["--functions"], multiple=True, type=click.Path(path_type=Path))
    (setting,) = settings_of(click.Command("any", params=[option]))
    assert validated(setting, f"{tmp_path / 'a.py'}, ~/b.py") == [str(tmp_path / "a.py"), "~/b.py"]
    with pytest.raises(UsageError, match="functions must be a whole path, from the root or ~, not"):
        validated(setting, f"{tmp_path / 'a.py'}, a.py")


def test_every_default_is_what_its_setting_can_be() -> None:
    for setting in lasting_settings():
        if setting.default is not None:
            assert validated(setting, setting.default) == setting.default


def test_no_two_things_have_one_variable() -> None:
    variables = [setting.variable for setting in lasting_settings()]
    assert len(variables) == len(set(variables))
    assert not OTHER_VARIABLES & set(variables)


def test_all_variables_that_the_package_reads_are_known() -> None:
    package = Path(local_react.__file__).parent
    named = {
        name
        for path in package.rglob("*.py")
        for name in re.findall(r"\bLOCAL_REACT_[A-Z_]*[A-Z]\b", path.read_text("utf-8"))
    }
    assert named >= OTHER_VARIABLES
    assert named <= OTHER_VARIABLES | {setting.variable for setting in lasting_settings()}


def test_the_variables_that_there_have_always_been_are_kept() -> None:
    assert {setting.key: setting.variable for setting in lasting_settings()}.items() >= {
        ("model", "LOCAL_REACT_MODEL"),
        ("votes", "LOCAL_REACT_VOTES"),
        ("search_engine", "LOCAL_REACT_SEARCH_ENGINES"),
        ("search_region", "LOCAL_REACT_SEARCH_REGION"),
        ("network", "LOCAL_REACT_NETWORK"),
        ("offline", "LOCAL_REACT_OFFLINE"),
        ("max_steps", "LOCAL_REACT_MAX_STEPS"),
    }


@pytest.mark.parametrize(
    ("key", "text", "name", "value"),
    [
        ("model", "a-name", "model", "a-name"),
        ("max_steps", "3", "max_steps", 3),
        ("votes", "3", "votes", 3),
        ("only_if_sure", "0.5", "only_if_sure", 0.5),
        ("offline", "true", "offline", True),
        ("network", "deny", "network_mode", "deny"),
        ("search_engine", "brave", "engines", "brave"),
        ("safe_search", "off", "safesearch", "off"),
        ("tool", "calculator,search", "wanted", ("calculator", "search")),
        ("verbose", "2", "verbose", 2),
        ("temperature", "0.5", "temperature", 0.5),
        ("flash_attn", "on", "flash_attention", "on"),
        ("repack", "false", "repack", False),
        ("ctx_size", "4096", "ctx_size", 4096),
    ],
)
def test_what_is_set_is_what_a_question_is_asked_with(
    run: Run, monkeypatch: pytest.MonkeyPatch, key: str, text: str, name: str, value: object
) -> None:
    assert asked()[name] != value
    run("set", key, text)
    assert asked()[name] == value
    run("unset", key)
    variable = next(each.variable for each in lasting_settings() if each.key == key)
    monkeypatch.setenv(variable, text)
    assert asked()[name] == value


def test_an_option_wins_over_a_variable_and_that_over_the_files(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("set", "--project", "max_steps", "2")
    run("set", "model", "of-mine")
    monkeypatch.setenv("LOCAL_REACT_MAX_STEPS", "3")
    assert (asked()["max_steps"], asked("--max-steps", "4")["max_steps"]) == (3, 4)
    monkeypatch.setenv("LOCAL_REACT_MODEL", "of-now")
    assert (asked()["model"], asked("-m", "other")["model"]) == ("of-now", "other")
    run("set", "offline", "true")
    monkeypatch.setenv("LOCAL_REACT_OFFLINE", "0")
    assert asked()["offline"] is False


def test_a_variable_that_nobody_understands_lets_nothing_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOCAL_REACT_OFFLINE", "please")
    assert asked()["offline"] is True


def test_other_commands_are_given_what_they_share_with_a_question(run: Run) -> None:
    @click.group
    def group() -> None: ...

    @group.command
    @click.option("--max-steps", "steps", type=int)
    @click.option("--threads", multiple=True)  # not as for a question
    @click.option("--other")
    def one() -> None: ...

    @group.command
    @click.option("--json", is_flag=True)
    def two() -> None: ...

    run("set", "max_steps", "3")
    run("set", "threads", "2")
    assert default_map(group) == {"one": {"steps": 3}}
    assert default_map(one) == {"steps": 3}
    assert default_map(two) == {}


def test_a_command_without_settings_is_not_stopped_by_a_broken_file(home: Path) -> None:
    (home / PROJECT_NAME).write_text("= = =")
    assert default_map(config) == {}
    with pytest.raises(UsageError, match="no valid TOML"):
        default_map(ask)


NOTHING = """
import sys, click
from local_react.cli.defaults import default_map
assert default_map(click.Command("any", params=[click.Option(["--max-steps"])])) == {}
heavy = {"pydantic", "pydantic_settings", "tomlkit", "local_react.cli.ask"} & set(sys.modules)
assert not heavy, heavy
"""


def test_where_nothing_is_set_a_command_costs_no_more() -> None:
    done = subprocess.run(
        [sys.executable, "-c", NOTHING], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_show_tells_each_value_and_what_set_it(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("set", "temperature", "0.5")
    (home / PROJECT_NAME).write_text("max_steps = 2\n")
    monkeypatch.setenv("LOCAL_REACT_NETWORK", "deny")
    monkeypatch.setenv("LOCAL_REACT_CACHE", "off")
    rows = [re.split(r"  +", line, maxsplit=2) for line in run("show").splitlines()]
    shown = {name: (value, origin) for name, value, origin in rows}
    assert {setting.key for setting in lasting_settings()} <= shown.keys()
    assert shown["temperature"] == ("0.5", f"user file {home / 'config' / 'config.toml'}")
    assert shown["max_steps"] == ("2", f"project file {home / PROJECT_NAME}")
    assert shown["network"] == ("deny", "LOCAL_REACT_NETWORK")
    assert shown["seed"] == ("0", "default")
    assert shown["threads"] == ("(not set)", "default")
    assert shown["cache directory"] == ("off", "LOCAL_REACT_CACHE")
    assert shown["config directory"] == (str(home / "config"), "LOCAL_REACT_CONFIG")
    assert shown["models directory"][1] == "default"


def test_show_as_json_and_of_one_key(run: Run, home: Path) -> None:
    run("set", "tool", "calculator")
    told = json.loads(run("show", "--json"))
    one = told["settings"]["tool"]
    assert one["value"] == ["calculator"]
    assert one["origin"] == f"user file {home / 'config' / 'config.toml'}"
    assert one["variable"] == "LOCAL_REACT_TOOL"
    assert told["settings"]["ctx_size"]["value"] is None
    assert told["directories"]["data"] == {
        "path": str(home / "data"),
        "origin": "LOCAL_REACT_DATA_DIR",
    }
    assert told["files"] == {"user": str(home / "config" / "config.toml"), "project": None}
    assert json.loads(run("show", "tool", "--json")) == one
    assert run("show", "max-steps").split() == ["max_steps", "8", "default"]


def test_show_points_at_variables_that_set_nothing(
    run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_REACT_MAX_STEP", "3")
    monkeypatch.setenv("LOCAL_REACT_NETWORK_LOG", "off")
    config.main(["show"], standalone_mode=False)
    assert capsys.readouterr().err == (
        "local-react: LOCAL_REACT_MAX_STEP sets nothing: did you mean LOCAL_REACT_MAX_STEPS?\n"
    )


def test_what_is_shown_does_not_steer_the_terminal(run: Run, home: Path) -> None:
    (home / "config").mkdir()
    (home / "config" / "config.toml").write_text('model = "a\\u001b[2Jb\\nc"\n')
    assert run("show", "model").splitlines() == [
        f"model  a[2Jb c  user file {home / 'config' / 'config.toml'}"
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("show", "tempratur"), "there is no setting 'tempratur': did you mean temperature?"),
        (("set", "max-step", "1"), "there is no setting 'max-step': did you mean max_steps?"),
        (("set", "json", "true"), "json cannot be set to last: it is for one question"),
        (("set", "votes", "99"), "votes must be auto or 1 to 32, not 99"),
        (("set", "temperature", "99"), "temperature must be from 0 to 10, not 99.0"),
        (("set", "top_k", "-1"), "top_k must be 0 or more, not -1"),
        (("set", "only_if_sure", "2"), "only_if_sure must be above 0 and at most 1, not 2"),
        (("set", "flash_attn", "maybe"), "flash_attn is 'maybe': it can be auto, on, off"),
        (("set", "--project", "quiet", "true"), "a project file may not set quiet"),
        (("unset", "seed"), "seed is not set in "),
    ],
)
def test_what_cannot_be_is_told_in_one_line(home: Path, arguments: list[str], told: str) -> None:
    with pytest.raises(UsageError) as raised:
        config.main(list(arguments), standalone_mode=False)
    assert str(raised.value).startswith(told)
    assert not (home / "config" / "config.toml").exists()
    assert not (home / PROJECT_NAME).exists()


def test_a_negative_number_is_a_value_and_no_option(run: Run) -> None:
    assert run("set", "gpu-layers", "-1").startswith("gpu_layers is -1 now: user file ")
    assert json.loads(run("show", "gpu_layers", "--json"))["origin"].startswith("user file")


def test_what_was_set_and_does_not_count_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_REACT_SEED", "5")
    config.main(["set", "seed", "7"], standalone_mode=False)
    assert "LOCAL_REACT_SEED sets seed too, and wins" in capsys.readouterr().err
    config.main(["set", "top_k", "7"], standalone_mode=False)
    assert capsys.readouterr().err == ""


def test_a_wrong_line_can_be_put_right_by_the_command(run: Run, home: Path) -> None:
    (home / "config").mkdir()
    path = home / "config" / "config.toml"
    path.write_text('wrong = 1\nnetwork = "on"\n')
    run("set", "network", "ask")
    run("unset", "wrong")
    assert path.read_text() == 'network = "ask"\n'
    assert run("show", "network").split()[1] == "ask"


def test_path_tells_where_the_files_are(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("path") == f"{home / 'config' / 'config.toml'}\n"
    assert run("path", "--project") == f"{home / PROJECT_NAME}\n"
    (home / "below").mkdir()
    (home / PROJECT_NAME).write_text("")
    monkeypatch.chdir(home / "below")
    assert run("path", "--project") == f"{home / PROJECT_NAME}\n"
