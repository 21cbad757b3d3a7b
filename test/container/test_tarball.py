"""What export.sh writes: the reference as a tarball, unpacked as on the platform, beside the image."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.phase.manifest import list_phase
from test.phases import replace_in

from .engine import HARDENED, REPOSITORY, evaluate, inside, submission_of

pytestmark = pytest.mark.container

PHASE = "refuge-onsite"
FROM_TARBALL = "/opt/ml/input/data/ground_truth"


@pytest.fixture
def unpacked(exported, tmp_path) -> Path:
    """Return the tarball unpacked as the platform does: its members straight into the folder."""
    tmp_path.chmod(0o755)
    folder = tmp_path / "ground_truth"
    with tarfile.open(exported / f"ground-truth-{PHASE}.tar.gz") as tarball:
        # Python 3.11 has filters from 3.11.4 on.
        tarball.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return folder


@pytest.fixture
def run(image, unpacked, tmp_path) -> Callable:
    submission = submission_of(PHASE, tmp_path)
    mounted = f"--mount=type=bind,source={unpacked},target={FROM_TARBALL}"
    return lambda: evaluate(image, submission, *HARDENED, mounted)


def test_the_tarball_holds_the_phase_and_the_images_own_seal(image, unpacked):
    assert list(list_phase(unpacked)) == list(list_phase(REPOSITORY / "ground-truth" / PHASE))
    manifest = inside(image, "print(open('ground-truth/manifest.json').read(), end='')")
    assert (unpacked / "manifest.json").read_text() == manifest


def test_the_tarball_depends_on_the_reference_alone(exported):
    # Bytes 4 to 7 of a gzip file are a time.
    assert (exported / f"ground-truth-{PHASE}.tar.gz").read_bytes()[4:8] == bytes(4)
    with tarfile.open(exported / f"ground-truth-{PHASE}.tar.gz") as tarball:
        members = tarball.getmembers()
    assert [member.name for member in members] == sorted(member.name for member in members)
    assert {(m.mtime, m.uid, m.gid, m.uname, m.gname) for m in members} == {(0, 0, 0, "", "")}
    assert {m.mode for m in members} <= {0o644, 0o755}


def test_a_good_tarball_wins_over_the_image(run, image):
    run = run()
    assert (run.status, run.stderr) == (0, "")
    assert json.loads(run.metrics)["phase"]["source"] == "tarball"


def replacing(file: str, old: str, new: str, problem: str) -> Callable[[Path], str]:
    """Return a change of the text of a file."""

    def change(folder: Path) -> str:
        replace_in(folder / file, old, new)
        return problem

    return change


def put_into_a_folder(folder: Path) -> str:
    whole = [*folder.iterdir()]
    (folder / PHASE).mkdir()
    for path in whole:
        path.rename(folder / PHASE / path.name)
    return f"expected phase.toml on top of the uploaded ground truth, found it in the folder {PHASE}/"


def take_other_files(folder: Path) -> str:
    (folder / "phase.toml").unlink()
    return "on top of the uploaded ground truth, found cases.csv, leaderboard.csv, manifest.json, masks"


CHANGES = {
    "label": replacing("cases.csv", ",right,0,", ",right,1,", "cases.csv: differs from the sealed file"),
    "phase": replacing(
        "phase.toml", PHASE, "refuge-other", f"name: expected '{PHASE}' as in the image, found 'refuge-other'"
    ),
    "challenge": replacing(
        *("phase.toml", 'challenge = "refuge"', 'challenge = "edd2020"'),
        "challenge: expected 'refuge' as in the image, found 'edd2020'",
    ),
    "folder": put_into_a_folder,
    "other files": take_other_files,
}


# Every way in which a reference differs from its seal is a test of the library.
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_reference_that_was_not_sealed_so_is_refused(run, unpacked, change):
    for path in (unpacked, *unpacked.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    problem = change(unpacked)
    unpacked.chmod(0o755)
    run = run()
    assert run.status == 1
    assert run.metrics is None
    assert problem in run.stdout
    # No participant is told which image or file it was.
    assert "fault of the organisers" in run.message
    assert "R0007" not in run.stderr
