"""Phases by folder and by name."""

import shutil
from pathlib import Path

import pytest

from evaluation.core.fault import PhaseError
from evaluation.phase.manifest import scan, seal
from evaluation.phase.named import named_phase, phase_folder
from test.faults import faulted
from test.repository import PHASES, REPOSITORY

BUNDLED = REPOSITORY / "ground-truth"


def test_a_folder_is_taken_as_it_is_and_a_name_looked_for_here_and_beside_the_package(tmp_path, monkeypatch):
    assert phase_folder(tmp_path) == phase_folder(str(tmp_path)) == tmp_path
    monkeypatch.chdir(tmp_path)
    assert phase_folder("refuge-onsite") == BUNDLED / "refuge-onsite"
    own = tmp_path / "ground-truth" / "refuge-onsite"
    own.mkdir(parents=True)
    assert phase_folder("refuge-onsite").resolve() == own


def test_an_unknown_name_is_answered_with_the_known_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ground-truth" / "own").mkdir(parents=True)
    (tmp_path / "ground-truth" / "own" / "phase.toml").touch()
    with pytest.raises(PhaseError) as caught:
        phase_folder("refuge")
    assert f"(known are {', '.join(sorted(['own', *PHASES]))})" in str(caught.value)


@pytest.mark.parametrize("sealed", [False, True])
def test_a_seal_is_verified_where_there_is_one(tmp_path, sealed):
    ignored = shutil.ignore_patterns("manifest.json")
    folder = Path(shutil.copytree(BUNDLED / "refuge-onsite", tmp_path / "phase", ignore=ignored))
    if sealed:
        seal(folder, scan(folder))
    assert len(named_phase(folder).rows) == 40
    with (folder / "cases.csv").open("a") as table:
        table.write("\n")
    if sealed:
        with faulted(PhaseError, "cases.csv", "1391"):
            named_phase(folder)
    else:
        assert len(named_phase(folder).rows) == 40
