"""The commands `build` and `export` with a stand-in for the engine; `test/container` has the true one."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import stat
import sys
from pathlib import Path

import pytest

from evaluation.cli.main import main
from evaluation.core.fault import PhaseError
from evaluation.organiser.image import build
from evaluation.organiser.image.build import Recipe, build_image
from evaluation.organiser.image.export import export_image
from test.faults import faulted
from test.repository import REPOSITORY

write_repository = pytest.importorskip("evaluation.organiser.starter.repository").write_repository

STAND_IN = Path(__file__).with_name("stand_in_docker.py")
BASE = "python:3.13-slim-trixie"
MANIFEST = "org.grand-challenge.evaluation.manifest"


class Engine:
    """The folder of the stand-in, which is the program `docker`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.say(platform="linux/amd64", manifest="0123")

    def say(self, **answers: str) -> None:
        for name, text in answers.items():
            (self.folder / name.replace("_", "-")).write_text(text)

    @property
    def asked(self) -> list[list[str]]:
        return [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]

    @property
    def context(self) -> list[str]:
        return (self.folder / "context").read_text().splitlines()


@pytest.fixture
def engine(tmp_path, monkeypatch) -> Engine:
    folder = tmp_path / "engine"
    folder.mkdir()
    program = folder / "docker"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I {STAND_IN} {folder} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return Engine(folder)


@pytest.fixture
def mine(tmp_path) -> Path:
    write_repository(tmp_path / "mine", "classification")
    return tmp_path / "mine"


def test_an_image_is_built_and_labelled(engine, mine, capsys):
    assert main(["build", str(mine), "--docker=--no-cache", "--docker=--quiet"]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"evaluation-mine: version 1.2.3, manifest sha256:0123, base {BASE} sha256:aa\n"
    assert printed.err == ""  # no progress where there is no terminal
    assert [command[0] for command in engine.asked] == [
        *("info", "image", "pull", "image", "image", "build", "image", "run", "build", "image", "image"),
    ]
    first, second = (command for command in engine.asked if command[0] == "build")
    assert first[1] == "--tag"
    assert re.fullmatch("evaluation-mine:unlabelled-[0-9a-f]{8}", unlabelled := first[2])
    assert first[3:] == ["--build-arg", "PHASE=mine", "--no-cache", "--quiet", "-"]
    # The name is given once, to the labelled image, and the other name is taken back.
    assert second[:4] == ["build", "--quiet", "--tag", "evaluation-mine"]
    assert ["image", "rm", unlabelled] in engine.asked
    assert {"org.grand-challenge.evaluation.phase=mine", f"{MANIFEST}=sha256:0123"} < set(second)
    assert "org.grand-challenge.evaluation.phase-version=1" in second


def test_the_engine_gets_the_recipe_the_package_and_one_phase_alike_everywhere(engine, mine):
    (mine / "phase" / "cases.csv").chmod(0o600)
    above = ("challenge.py", "overlap.py", "requirements.txt")
    for name in above:
        (mine / name).write_text("", encoding="utf-8")
    main(["build", str(mine)])
    nonce = mine / "phase" / ".nonce"
    assert re.fullmatch("[0-9a-f]{32}", kept := nonce.read_text())
    assert stat.S_IMODE(nonce.stat().st_mode) == 0o600
    main(["build", str(mine / "phase")])
    assert nonce.read_text() == kept
    members = [line.split() for line in engine.context]
    # Folders are sent like files, as `docker build` does: both ways find the layers of the other.
    folders = {name for mode, _, name in members if mode == "755"}
    names = [name for _, _, name in members if name not in folders]
    assert folders == {str(parent) for name in names for parent in Path(name).parents[:-1]}
    assert names[:2] == ["Dockerfile", "requirements.txt"]
    assert {name.partition("/")[0] for name in names[2:]} == {"evaluation", "ground-truth"}
    assert {name for name in names if name.startswith("ground-truth")} == {
        f"ground-truth/mine/{name}" for name in ("phase.toml", "cases.csv", ".nonce", *above)
    }
    assert "evaluation/organiser/image/build.py" in names
    assert not [name for name in names if "__pycache__" in name]
    assert {mode for mode, _, name in members if not name.endswith(".nonce")} == {"644", "755"}
    # The time that the Dockerfile gives to later ones: a build by hand makes the same layers.
    (epoch,) = re.findall(
        r"^ARG SOURCE_DATE_EPOCH=(.+)$", (REPOSITORY / "Dockerfile").read_text(), re.MULTILINE
    )
    assert {time for _, time, _ in members} == {epoch}


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"platform": "linux/arm64"}, "evaluation-mine is for linux/arm64, but must be for linux/amd64"),
        ({"build_says": "write /var/lib/x: No space left on device\n"}, "docker system prune"),
        ({"build_says": "masks/a.png: is missing\n"}, "evaluation-mine could not be built:\nmasks/a.png: is"),
        ({"no_engine": ""}, "docker info: Cannot connect to the Docker daemon Start the engine"),
    ],
)
def test_what_goes_wrong_is_told(engine, mine, capsys, answers, message):
    engine.say(**answers)
    assert main(["build", str(mine)]) == 1
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""
    assert not [path for path in engine.folder.iterdir() if path.name.startswith("evaluation-mine")]


def test_another_base_and_another_dockerfile(engine, mine, tmp_path, capsys):
    main(["build", str(mine), "--base", "python@sha256:bb"])
    first = next(command for command in engine.asked if command[0] == "build")
    assert "BASE=python@sha256:bb" in first
    own = tmp_path / "Own"
    own.write_text("ARG BASE=base:1\nFROM $BASE\n")
    assert main(["build", str(mine), "--dockerfile", str(own)]) == 0
    assert "base base:1 sha256:cc" in capsys.readouterr().out
    own.write_text("FROM base:1\n")
    assert main(["build", str(mine), "--dockerfile", str(own)]) == 1
    assert f"{own}: expected a line ARG BASE=…" in capsys.readouterr().err


def test_an_installed_package_takes_the_recipe_that_its_distribution_brought(
    engine, mine, tmp_path, monkeypatch
):
    monkeypatch.setattr(build, "PACKAGE", tmp_path / "site-packages" / "evaluation")
    assert main(["build", str(mine)]) == 1
    monkeypatch.setattr(build, "_DISTRIBUTED", tmp_path / "base")
    (tmp_path / "base").mkdir()
    for name in ("Dockerfile", "requirements.txt"):
        shutil.copy(REPOSITORY / name, tmp_path / "base")
    assert main(["build", str(mine)]) == 0


def test_the_export_of_a_phase_folder_lies_outside_of_it(engine, mine, tmp_path, monkeypatch, capsys):
    """All of a phase folder is sealed: an export in it would be taken for a change of the phase."""
    monkeypatch.chdir(tmp_path)
    phase = mine / "phase"
    before = {path.name for path in phase.iterdir()}
    assert main(["export", str(phase)]) == 0
    assert (tmp_path / "export" / "mine" / "evaluation-mine.tar.gz").is_file()
    assert main(["export", str(phase), "--output", str(phase / "export")]) == 1
    assert "lies in the phase folder" in capsys.readouterr().err
    assert {path.name for path in phase.iterdir()} == before | {".nonce"}


def test_export_writes_all_that_the_organiser_needs(engine, mine, capsys):
    assert main(["export", str(mine)]) == 0
    printed = capsys.readouterr().out
    folder = mine / "export"
    names = {"settings.json", "form.json", "format.md"}
    names |= {"evaluation-mine.tar.gz", "ground-truth-mine.tar.gz"}
    assert {path.name for path in folder.iterdir()} == names
    assert f"\n{folder}/evaluation-mine.tar.gz: 0 MB\n" in printed
    assert "Evaluation methods: add evaluation-mine.tar.gz" in printed
    assert "avg (chosen)" in printed  # in the table of the platform's ways to rank
    assert "The platform rejects a zip with a password or with absolute paths" in printed
    saved = (folder / "evaluation-mine.tar.gz").read_bytes()
    assert gzip.decompress(saved) == b"evaluation-mine:latest\n"
    assert saved[4:8] == bytes(4)  # no time, so that equal images give equal files
    engine.say(save_fails="")
    with faulted(PhaseError, "evaluation-mine.tar.gz", "docker save"):
        export_image(build_image(mine, Recipe(), print), b"{}", folder, print)
    assert (folder / "evaluation-mine.tar.gz").read_bytes() == saved
    assert {path.name for path in folder.iterdir()} == names


def test_a_changed_phase_with_an_unchanged_version_gets_a_note(engine, mine, capsys):
    main(["build", str(mine)])
    assert capsys.readouterr().err == ""
    engine.say(manifest="4567")
    main(["build", str(mine)])
    note = "Note: the phase is not that of the last image, but its version is still '1'"
    assert capsys.readouterr().err.startswith(note)
    engine.say(manifest="89ab")
    config = mine / "phase" / "phase.toml"
    config.write_text('version = "2"\n' + config.read_text())
    main(["build", str(mine)])
    assert capsys.readouterr().err == ""
