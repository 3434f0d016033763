"""`local-react models`: real files, and a catalogue that pins a tiny one."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gguf
import pytest
from filelock import FileLock
from trials.gguf_file import split

from local_react import catalog
from local_react.catalog import added_models, catalogue_names, installed_names, resolve
from local_react.cli.models import models
from local_react.errors import LocalReactError, ModelError, ModelNotFound, UsageError
from local_react.places import data_dir

ENTRY = """
[[model]]
name = "{name}"
repository = "someone/Tiny-GGUF"
revision = "0123456789012345678901234567890123456789"
file = "{file}"
bytes = {bytes}
sha256 = "{sha256}"
licence = "MIT"
parameters = "12k"
quantisation = "F32"
context = 4096
memory = {memory}
good_for = "tests"
"""
OTHER = {"name": "large", "file": "large.gguf", "bytes": 1000, "sha256": "0" * 64, "memory": 6.5}

Run = Callable[..., SimpleNamespace]


@pytest.fixture(autouse=True)
def store(
    own_places: None, tiny_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Return the models directory, with the one of two models that the catalogue has."""
    data = tiny_path.read_bytes()
    small = {"name": "small", "file": "Small.gguf", "bytes": len(data), "memory": 0.5}
    small["sha256"] = hashlib.sha256(data).hexdigest()
    text = 'default = "small"\nrecommended = "large"\ntest = "small"\n'
    text += ENTRY.format(**small) + ENTRY.format(**OTHER)
    monkeypatch.setattr(catalog, "_catalogue_text", lambda: text)
    directory = tmp_path / "models"
    directory.mkdir()
    shutil.copy(tiny_path, directory / "Small.gguf")
    monkeypatch.setenv("LOCAL_REACT_MODELS", str(directory))
    monkeypatch.chdir(tmp_path)
    return directory


@pytest.fixture
def own(tiny_path: Path, tmp_path: Path) -> Path:
    """Return a model that is none of the catalogue's, and not in the models directory."""
    file = tmp_path / "elsewhere" / "My Own_Model.Q8.gguf"
    file.parent.mkdir()
    shutil.copy(tiny_path, file)
    return file


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command and gives its exit code and what it said."""

    def call(*arguments: object) -> SimpleNamespace:
        try:
            code = models.main(list(map(str, arguments)), "models", standalone_mode=False) or 0
            complaint = ""
        except LocalReactError as error:
            code, complaint = error.exit_code, str(error)
        out, err = capsys.readouterr()
        return SimpleNamespace(code=code, out=out, err=err + complaint)

    return call


# list, path


def test_the_bare_call_lists_what_there_is_and_what_is_here(run: Run, own: Path) -> None:
    run("add", own, "--name", "mine")
    done = run()
    assert done.code == 0
    first, second, third = done.out.splitlines()
    assert first.startswith("* small ") and "[default]" in first
    assert second.startswith("  large ") and "[recommended" in second
    assert third.startswith("* mine ") and str(own) in third
    assert run("list").out == done.out


def test_the_list_as_json(run: Run, own: Path, store: Path) -> None:
    run("add", own, "--name", "mine")
    own.unlink()
    told = {entry["name"]: entry for entry in json.loads(run("list", "--json").out)}
    assert [(name, entry["here"]) for name, entry in told.items()] == [
        ("small", True),
        ("large", False),
        ("mine", False),
    ]
    assert (told["small"]["role"], told["large"]["role"]) == ("default", "recommended")
    assert told["small"]["file"] == str(store / "Small.gguf")
    assert told["mine"]["added"] is True


def test_the_path_is_that_of_the_models(run: Run, store: Path) -> None:
    assert run("path").out == f"{store}\n"


@pytest.mark.parametrize(("word", "told"), [("lst", "did you mean list?"), ("zzzz", "recommend")])
def test_a_wrong_command_gets_the_nearest(run: Run, word: str, told: str) -> None:
    done = run(word)
    assert done.code == 2
    assert told in done.err


@pytest.mark.parametrize("command", ["show", "verify", "rm"])
def test_a_wrong_name_gets_the_nearest(run: Run, own: Path, command: str) -> None:
    run("add", own, "--name", "wonderful")
    for wrong, right in (("smal", "small"), ("wonderfull", "wonderful")):
        done = run(command, wrong)
        assert done.code == ModelNotFound.exit_code
        assert f"did you mean {right}" in done.err


# verify


def test_a_model_is_hashed_each_time_and_the_record_is_not_believed(run: Run, store: Path) -> None:
    done = run("verify", "small")
    assert (done.code, done.out) == (0, f"small: verified, {store / 'Small.gguf'}\n")
    assert "verifying 100 %" in done.err
    file = store / "Small.gguf"
    before = file.stat()
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # as the record has it
    done = run("verify", "small")
    assert (done.code, done.out) == (ModelError.exit_code, "")
    assert "expected SHA-256" in done.err
    assert "pull --force small" in done.err
    assert not (store / "Small.gguf.verified").exists()


def test_all_that_are_here_are_checked_and_a_wrong_one_stops_none(
    run: Run, store: Path, own: Path
) -> None:
    (store / "large.gguf").write_bytes(b"GGUF" + bytes(996))
    run("add", own, "--name", "mine")
    done = run("verify")
    assert done.code == ModelError.exit_code
    assert "small: verified" in done.out
    assert "large" in done.err
    assert "mine: a sound GGUF" in done.out
    (store / "large.gguf").unlink()
    assert run("verify").code == 0


def test_where_none_is_here_that_is_said(run: Run, store: Path) -> None:
    (store / "Small.gguf").unlink()
    done = run("verify")
    assert (done.code, done.out) == (0, "")
    assert "no model is in" in done.err
    done = run("verify", "small")
    assert done.code == ModelError.exit_code
    assert "local-react pull small" in done.err


def test_of_another_file_the_header_is_read_and_the_hash_printed(run: Run, own: Path) -> None:
    done = run("verify", own)
    assert done.code == 0
    assert "sound" in done.out and "llama" in done.out
    assert f"{hashlib.sha256(own.read_bytes()).hexdigest()}  {own}" in done.out


@pytest.mark.parametrize("kept", [0, 3, 20, 200, 5000, -1000, -1])
def test_a_file_that_was_cut_is_not_sound(run: Run, own: Path, kept: int) -> None:
    own.write_bytes(own.read_bytes()[:kept])
    for command in ("verify", "show", "add"):
        done = run(command, own)
        assert (done.code, done.out) == (ModelError.exit_code, ""), command
        assert str(own) in done.err
    assert added_models() == {}


def test_a_file_under_the_catalogue_s_file_name_is_compared_with_it(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "large.gguf").write_bytes(b"GGUF")
    done = run("verify", tmp_path / "large.gguf")
    assert done.code == ModelError.exit_code
    assert "expected 1000 bytes" in done.err


# split models


def test_of_a_split_model_the_first_file_is_wanted_and_a_missing_one_named(
    run: Run, tiny_path: Path, tmp_path: Path
) -> None:
    files = split(tiny_path, tmp_path, "big", 3)
    for command in ("verify", "show", "add"):
        assert "give the first shard, big-00001-of-00003.gguf" in run(command, files[1]).err
    assert run("verify", files[0]).out.count(str(tmp_path)) == 3
    assert run("add", files[0]).out.startswith("big: ")
    size = json.loads(run("show", "big", "--json").out)["bytes"]
    assert size == sum(file.stat().st_size for file in files)
    files[2].write_bytes(files[2].read_bytes()[:-500])
    assert files[2].name in run("verify", "big").err
    files[2].unlink()
    for command in ("verify", "show"):
        done = run(command, "big")
        assert done.code == ModelError.exit_code
        assert "needs big-00003-of-00003.gguf beside it" in done.err


def test_shards_that_were_joined_or_renamed_are_no_model(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "joined.gguf"
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_block_count(1)
    writer.add_embedding_length(32)
    writer.add_context_length(4096)
    writer.add_uint16("split.count", 3)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    for command in ("verify", "show", "add"):
        done = run(command, file)
        assert done.code == ModelError.exit_code
        assert "split into 3 files" in done.err
        assert "-00001-of-00003.gguf" in done.err


def test_all_files_of_a_split_model_are_removed(run: Run, tiny_path: Path, store: Path) -> None:
    held = sum(file.stat().st_size for file in split(tiny_path, store, "big", 3))
    done = run("rm", "big-00001-of-00003.gguf", "--yes")
    assert f"{held:,} bytes" in done.out
    assert [file.name for file in store.iterdir()] == ["Small.gguf"]


# add


def test_a_file_is_known_by_its_name_from_then_on(run: Run, own: Path) -> None:
    assert run("add", own.relative_to(Path.cwd())).out == "my-own_model.q8: known from now on\n"
    assert resolve("my-own_model.q8") == own
    assert resolve(" My-Own_Model.Q8 ") == own
    assert added_models() == {"my-own_model.q8": own}
    assert (data_dir() / "models.json").is_file()
    if os.name == "posix":
        assert (data_dir() / "models.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "name", ["small", "SMALL", "large", "Small.gguf", "a/b", "", "-x", "ä" * 9]
)
def test_a_name_that_is_taken_or_none_is_refused(run: Run, own: Path, name: str) -> None:
    done = run("add", own, f"--name={name}")
    assert done.code == UsageError.exit_code
    assert added_models() == {}


def test_a_name_stays_with_its_file_while_that_is_there(
    run: Run, own: Path, tiny_path: Path
) -> None:
    run("add", own, "--name", "mine")
    done = run("add", tiny_path, "--name", "mine")
    assert done.code == UsageError.exit_code
    assert str(own) in done.err
    assert run("add", own, "--name", "mine").code == 0  # once more the same
    moved = own.rename(own.with_name("moved.gguf"))
    for command in ("show", "verify"):
        done = run(command, "mine")
        assert done.code == ModelNotFound.exit_code
        assert "models add PATH --name mine" in done.err
        assert "\n" not in done.err.strip()
    assert "gone" in run("list").out
    assert run("add", moved, "--name", "mine").code == 0
    assert resolve("mine") == moved


@pytest.mark.parametrize("text", ["[]", "{", '{"mine": 3}', "3", "[" * 100_000])
def test_a_damaged_list_is_never_written_over(run: Run, own: Path, text: str) -> None:
    run("add", own, "--name", "mine")
    file = data_dir() / "models.json"
    file.write_text(text)
    for arguments in (("add", own, "--name", "other"), ("rm", "mine", "-y"), ("show", "mine")):
        done = run(*arguments)
        assert done.code == ModelError.exit_code
        assert str(file) in done.err
    assert file.read_text() == text
    assert resolve("small").name == "Small.gguf"  # the catalogue's work all the same
    assert run("list").code == 0
    assert installed_names() == ["small"]


def test_what_is_no_model_is_not_added(run: Run, tmp_path: Path) -> None:
    (tmp_path / "page.gguf").write_text("<!doctype html>")
    for path in ("page.gguf", "nothing.gguf", tmp_path, "small"):
        assert run("add", path).code == ModelError.exit_code
    assert added_models() == {}


# rm


def test_a_model_is_removed_with_all_that_belongs_to_it(run: Run, store: Path) -> None:
    run("verify", "small")
    (store / "Small.gguf.part").write_bytes(bytes(50))
    (store / "Small.gguf.index").mkdir()
    (store / "Small.gguf.index" / "wheel").write_bytes(bytes(7))
    (store / "other.txt").touch()
    size = sum(file.stat().st_size for file in store.rglob("*") if file.is_file())
    done = run("rm", "small", "--yes")
    assert done.code == 0
    assert f"{size:,} bytes freed" in done.out
    assert [file.name for file in store.iterdir()] == ["other.txt"]
    done = run("rm", "small", "--yes")
    assert done.code == ModelNotFound.exit_code
    assert "nothing to remove" in done.err


def test_what_an_interrupted_download_left_is_removed_without_a_file(run: Run, store: Path) -> None:
    (store / "large.gguf.part").write_bytes(bytes(50))
    assert "50 bytes freed" in run("rm", "large", "-y").out


def test_off_a_terminal_nothing_is_removed_unasked(run: Run, store: Path, own: Path) -> None:
    run("add", own, "--name", "mine")
    for name in ("small", "mine"):
        done = run("rm", name)
        assert done.code == UsageError.exit_code
        assert "--yes" in done.err
    assert (store / "Small.gguf").exists()
    assert "mine" in added_models()


def test_of_an_added_one_only_the_name_goes(run: Run, own: Path) -> None:
    run("add", own, "--name", "mine")
    done = run("rm", "Mine", "-y")
    assert done.code == 0
    assert str(own) in done.out
    assert own.exists()
    assert added_models() == {}
    run("add", own, "--name", "mine")
    own.unlink()
    assert run("rm", "mine", "-y").code == 0  # of a file that is gone as well


def test_nothing_outside_the_models_directory_is_removed(
    run: Run, own: Path, store: Path, tmp_path: Path
) -> None:
    (store / "sub").mkdir()
    inner = shutil.copy(own, store / "sub" / "inner.gguf")
    (store / "catalog.toml").touch()
    (store / "catalog.toml.gguf.verified").touch()
    for path in (own, inner, "sub/inner.gguf", "../elsewhere/My Own_Model.Q8.gguf"):
        assert run("rm", path, "-y").code in (UsageError.exit_code, ModelNotFound.exit_code)
    for path in ("catalog.toml", store / "catalog.toml", store, "."):
        assert run("rm", path, "-y").code != 0
    assert own.exists() and Path(inner).exists() and (store / "catalog.toml").exists()


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_of_a_link_the_file_it_leads_to_stays(run: Run, own: Path, store: Path) -> None:
    (store / "large.gguf").symlink_to(own)
    assert "0 bytes freed" in run("rm", "large", "-y").out
    assert own.exists()
    assert not (store / "large.gguf").is_symlink()


def test_a_file_put_there_by_hand_is_removed_even_if_it_is_damaged(run: Run, store: Path) -> None:
    (store / "broken.gguf").write_text("no model")
    assert "8 bytes freed" in run("rm", "broken.gguf", "-y").out


def test_what_is_being_fetched_stays(run: Run, store: Path) -> None:
    with FileLock(store / "Small.gguf.lock"):
        done = run("rm", "small", "-y")
    assert done.code == ModelError.exit_code
    assert "is being fetched" in done.err
    assert (store / "Small.gguf").exists()


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("answer", "stays"), [("y", False), ("n", True), ("", True)])
def test_on_a_terminal_the_user_is_asked(store: Path, answer: str, stays: bool) -> None:
    pexpect = pytest.importorskip("pexpect")
    file = store / "SmolLM2-135M-Instruct.Q4_1.gguf"  # of the real catalogue
    file.write_bytes(b"GGUF")
    command = ["-m", "local_react", "models", "rm", "smollm2-135m"]
    child = pexpect.spawn(sys.executable, command, encoding="utf-8", timeout=60)
    child.expect("Remove smollm2-135m .4 bytes.* from .*y/N")
    child.sendline(answer)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert file.exists() is stays
    assert ("nothing was removed" in child.before) is stays


# show


def test_all_is_shown_of_a_model_that_is_here(run: Run, store: Path) -> None:
    out = run("show", "SMALL").out
    for told in (
        *("someone/Tiny-GGUF at 0123456789", "MIT", str(store / "Small.gguf"), "4,096 tokens"),
        *("architecture  llama", "layers        1", "chat template yes", "GiB with 4096 tokens"),
        *(hashlib.sha256((store / "Small.gguf").read_bytes()).hexdigest(), "not verified yet"),
    ):
        assert told in out
    assert json.loads(run("show", "small", "--json").out)["verified"] is None
    run("verify", "small")
    assert ", verified" in run("show", "small").out
    assert json.loads(run("show", "small", "--json").out)["verified"] is True


def test_of_a_model_that_is_not_here_the_catalogue_tells(run: Run) -> None:
    told = json.loads(run("show", "large", "--json").out)
    assert (told["here"], told["context_length"], told["verified"]) == (False, 4096, None)
    assert told["memory_needed"] == 6.5 * 2**30
    out = run("show", "large").out
    assert "`local-react pull large`" in out
    assert "architecture" not in out


def test_a_file_with_other_bytes_is_shown_as_that(run: Run, store: Path) -> None:
    with (store / "Small.gguf").open("ab") as file:
        file.write(b"more")
    assert json.loads(run("show", "small", "--json").out)["verified"] is False
    assert "NOT the catalogue's" in run("show", "small").out


def test_a_file_of_ones_own_is_shown(run: Run, own: Path) -> None:
    told: dict[str, Any] = json.loads(run("show", own, "--json").out)
    assert (told["in_catalogue"], told["sha256"], told["architecture"]) == (False, None, "llama")
    assert told["numbers"] > 10_000
    run("add", own, "--name", "mine")
    assert "added by you" in run("show", "mine").out


# recommend


@pytest.fixture
def available(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return a function that gives this machine so many GiB."""

    def give(gib: float) -> None:
        monkeypatch.setattr("local_react.hardware.available_memory", lambda: int(gib * 2**30))

    return give


def test_what_fits_is_recommended_with_the_next_step(
    run: Run, available: Callable[[float], None]
) -> None:
    available(8)
    done = run("recommend")
    assert done.code == 0
    assert "8.0 GiB of memory are available" in done.out
    assert done.out.index("large") < done.out.index("small")
    assert "Take large" in done.out
    assert done.out.endswith("\nlocal-react pull large\n")
    assert "local-react bench" in done.err
    available(1)
    done = run("recommend")
    assert "large" not in done.out
    assert '\nlocal-react -m small "..."\n' in done.out
    told = json.loads(run("recommend", "--json").out)
    assert (told["take"], told["short_by"], told["models"][0]["here"]) == ("small", 0, True)


def test_speeds_are_measured_or_marked_as_estimates(
    run: Run, available: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    available(8)
    monkeypatch.setattr("local_react.recommending.measured_rates", lambda _: {"large": 50.0})
    out = run("recommend").out
    assert "50.0 tokens/s, measured" in out
    assert "tokens/s, estimated from large" in out
    told = {one["name"]: one for one in json.loads(run("recommend", "--json").out)["models"]}
    assert told["large"]["estimated_from"] is None
    assert told["small"]["estimated_from"] == "large"


def test_where_none_fits_what_is_short_is_told(
    run: Run, available: Callable[[float], None]
) -> None:
    available(0.2)
    done = run("recommend")
    assert (done.code, done.out) == (ModelError.exit_code, "")
    assert "small, needs 0.5 GiB" in done.err
    assert "free 0.3 GiB" in done.err
    told = json.loads(run("recommend", "--json").out)
    assert (told["take"], told["models"]) == (None, [])
    assert told["short_by"] > 0


# completion


def test_names_for_completion_need_no_file_to_be_read(run: Run, own: Path, store: Path) -> None:
    run("add", own, "--name", "mine")
    assert catalogue_names() == ["small", "large"]
    assert installed_names() == ["small", "mine"]
    own.unlink()
    assert installed_names() == ["small"]
