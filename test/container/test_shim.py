"""Images under the platform's own runtime, `sagemaker-shim` of the index, beside our stand-in of a newer one.

The index has version 0.2.4 of 2023. Rules that came later (limits of time and memory, a link at /input,
hidden variables) are in the stand-in alone, and not compared.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .engine import REPOSITORY, docker, on_platform, submission_of
from .test_platform import FACTS, as_zip, probing, spoilt

# What the stand-in does is tested at each change (`test_platform`), and seldom changes.
pytestmark = [pytest.mark.container, pytest.mark.weekly]

WRITABLE = (
    "/output:/opt/ml/output/data:/opt/ml/model:/opt/ml/input/data/ground_truth:/opt/ml/checkpoints:/tmp"
)


@dataclass(frozen=True)
class Shimmed:
    """A run under the platform's runtime: its own result, the uploaded files, the container's lines."""

    result: dict[str, Any]
    output: Path
    stdout: list[str]
    stderr: list[str]


def inputs_of(submission: Path, bucket: Path, key: str) -> list[dict[str, Any]]:
    """Put a submission into the bucket, and return the runtime's list of files to download."""
    folder = bucket / key
    folder.mkdir(parents=True)
    if submission.is_dir():
        files = [path for path in submission.rglob("*") if path.is_file()]
        names = [str(path.relative_to(submission)) for path in files]
    else:
        files, names = [submission], ["predictions.zip"]
    for path, name in zip(files, names, strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / name)
    (folder / "inputs.json").write_text('[{"socket": {"slug": "predictions-zip-file"}}]', encoding="utf-8")
    return [
        {
            "relative_path": name,
            "bucket_name": bucket.name,
            "bucket_key": f"{key}/{name}",
            "decompress": name == "predictions.zip",
        }
        for name in (*names, "inputs.json")
    ]


def under_shim(image: str, folder: Path, *submissions: Path) -> list[Shimmed]:
    """Run submissions in one container of an image, as the platform's runtime does."""
    config = json.loads(docker("image", "inspect", "--format", "{{json .Config}}", image).stdout)
    name = f"evaluation-test-shim-{os.getpid()}"
    context = REPOSITORY / "test" / "container" / "shim"
    docker("build", "--quiet", f"--tag={name}", f"--build-arg=IMAGE={image}", context)
    buckets = Path(tempfile.mkdtemp(prefix="buckets-", dir=folder))
    tasks = [
        {
            "pk": str(number),
            "inputs": inputs_of(submission, buckets / "inputs", str(number)),
            "output_bucket_name": "outputs",
            "output_prefix": str(number),
        }
        for number, submission in enumerate(submissions)
    ]
    settings: dict[str, Any] = {
        "USER": config["User"],
        "WRITABLE_DIRECTORIES": WRITABLE,
        "CMD_B64J": base64.b64encode(json.dumps(config.get("Cmd")).encode()).decode(),
        "ENTRYPOINT_B64J": base64.b64encode(json.dumps(config.get("Entrypoint")).encode()).decode(),
    }
    try:
        done = docker(
            "run",
            "--rm",
            "--network=none",
            "--memory=8g",
            *(f"--env=GRAND_CHALLENGE_COMPONENT_{key}={value}" for key, value in settings.items()),
            f"--mount=type=bind,source={buckets},target=/mnt/buckets",
            name,
            "invoke",
            "--tasks",
            json.dumps(tasks),
        )
    finally:
        docker("rmi", "--force", name)
    # Both streams have one JSON object a line, with the task and whether it is the runtime's own.
    streams = ([json.loads(line) for line in of.splitlines()] for of in (done.stdout, done.stderr))
    stdout, stderr = ([line for line in lines if not line["internal"]] for lines in streams)
    runs = []
    for task in tasks:
        output = buckets / "outputs" / task["pk"]
        said = [[line["log"] for line in of if line["task"] == task["pk"]] for of in (stdout, stderr)]
        result = output / ".sagemaker_shim" / "inference_result.json"
        runs.append(Shimmed(json.loads(result.read_text(encoding="utf-8")), output, *said))
    return runs


def files_in(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and ".sagemaker_shim" not in path.parts
    )


@pytest.mark.parametrize("phase", ["refuge-onsite", "justraigs-phase1"])
def test_a_submission_ends_as_under_the_stand_in(phase, image_of, tmp_path):
    image = image_of(phase)
    submission = submission_of(phase, tmp_path)
    bad, named = spoilt(submission, tmp_path)
    jobs = (submission / "predictions.json").exists()
    good, bad = (
        path if jobs else as_zip(path, Path(tempfile.mkdtemp(dir=tmp_path))) for path in (submission, bad)
    )
    scored, rejected, again = under_shim(image, tmp_path, good, bad, good)
    expected, expected_rejection = on_platform(image, tmp_path, good, bad)

    assert scored.result["return_code"] == 0
    assert files_in(scored.output) == ["metrics.json"]
    metrics = (expected / "output/metrics.json").read_bytes()
    assert (scored.output / "metrics.json").read_bytes() == metrics
    assert (again.output / "metrics.json").read_bytes() == metrics
    assert scored.stderr == []
    assert scored.stdout == (expected / "stdout").read_text(encoding="utf-8").splitlines()

    assert rejected.result["return_code"] == 1
    assert files_in(rejected.output) == []
    assert rejected.stderr == (expected_rejection / "stderr").read_text(encoding="utf-8").splitlines()
    assert named in rejected.stderr[-1]


NAMES = (
    ("a/b/c.csv", "a/d.csv", "__MACOSX/a/._d.csv", "a/.DS_Store", "a/desktop.ini"),
    ("a/b/only.csv",),
    ("ab/one.csv", "abc/two.csv"),
    ("./a/one.csv", "./a/two.csv"),
)
"""The names in archives, which each runtime unpacks in one container."""


def test_a_zip_is_unpacked_as_by_the_stand_in(image, tmp_path):
    paths = [tmp_path / f"{number}.zip" for number in range(len(NAMES))]
    for path, names in zip(paths, NAMES, strict=True):
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, b"x")
    with probing(image, FACTS) as probe:
        runs = under_shim(probe, tmp_path, *paths)
        expected = on_platform(probe, tmp_path, *paths)
    same = ("uid", "groups", "home", "owners", "readable", "files", "described", "tmp", "modes")
    for names, run, other in zip(NAMES, runs, expected, strict=True):
        ours = json.loads((other / "stdout").read_text(encoding="utf-8"))
        theirs = json.loads(run.stdout[-1])
        assert {key: theirs[key] for key in same} == {key: ours[key] for key in same}, names
        # Whatever lies in /output is uploaded, a link's target by both.
        assert "link" in files_in(run.output)
        assert (other / "output/link").is_file()
