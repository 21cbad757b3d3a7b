"""The image as the scoring program of Codabench, in the folders and with the limits of its compute worker."""

import json
import shutil
import zipfile

import pytest
import yaml

from evaluation.cli.main import main

from .engine import REPOSITORY, docker, submission_of

pytestmark = pytest.mark.container

PHASE = "refuge-onsite"
# What the compute worker gives a program: see `create_host_config` in its source.
DROPPED = (
    *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
    *("NET_RAW", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
)


@pytest.fixture(scope="module")
def bundle(image, tmp_path_factory):
    """Return the unpacked bundle of the phase, as the platform stores its parts."""
    folder = tmp_path_factory.mktemp("bundle")
    phase = REPOSITORY / "ground-truth" / PHASE
    assert main(["export", str(phase), "--for", "codabench", "--output", str(folder)]) == 0
    with zipfile.ZipFile(folder / "competition.zip") as archive:
        archive.extractall(folder / "parts")
    return folder / "parts"


def competition(bundle):
    return yaml.safe_load((bundle / "competition.yaml").read_text(encoding="utf-8"))


def run(bundle, submission, folder):
    """Run the scoring program on a submission; return the finished process and the folder of its output."""
    content = competition(bundle)
    (task,) = content["tasks"]
    for name, place in ((task["scoring_program"], "program"), (task["reference_data"], "input/ref")):
        shutil.unpack_archive(bundle / name, folder / place)
    shutil.copytree(submission, folder / "input" / "res")
    (folder / "output").mkdir()  # of root, as the worker makes it
    command = yaml.safe_load((folder / "program" / "metadata.yaml").read_text(encoding="utf-8"))["command"]
    finished = docker(
        *("run", "--rm", "--security-opt=no-new-privileges", "--workdir=/app/program"),
        *(f"--cap-drop={name}" for name in DROPPED),
        *(f"--volume={folder / name}:/app/{name}" for name in ("program", "input", "output")),
        *("--env=PYTHONUNBUFFERED=1", content["docker_image"], *command.split()),
        check=False,
    )
    return finished, folder / "output"


def test_the_bundle_has_what_its_configuration_names(bundle):
    content = competition(bundle)
    named = [content["image"], content["terms"], *(page["file"] for page in content["pages"])]
    (task,) = content["tasks"]
    named += [task["reference_data"], task["scoring_program"]]
    assert [name for name in named if not (bundle / name).is_file()] == []
    (board,) = content["leaderboards"]
    assert [column["index"] for column in board["columns"]] == list(range(len(board["columns"])))
    auc = board["columns"][[column["key"] for column in board["columns"]].index("classification_auc")]
    assert (auc["sorting"], auc["precision"]) == ("desc", 4)
    error = next(column for column in board["columns"] if "error" in column["key"])
    assert error["sorting"] == "asc"
    (phase,) = content["phases"]
    assert phase["max_submissions"] == 2


def test_scores_of_a_submission(bundle, undisturbed, tmp_path):
    finished, output = run(bundle, submission_of(PHASE, tmp_path / "given"), tmp_path)
    assert finished.returncode == 0, finished.stderr
    scores = json.loads((output / "scores.json").read_text(encoding="utf-8"))
    columns = competition(bundle)["leaderboards"][0]["columns"]
    assert set(scores) == {column["key"] for column in columns}
    expected = json.loads(undisturbed)
    assert scores["classification_auc"] == expected["aggregates"]["classification"]["auc"]["value"]
    assert json.loads((output / "metrics.json").read_bytes())["aggregates"] == expected["aggregates"]
    assert "R00" not in (output / "detailed_results.html").read_text(encoding="utf-8")
