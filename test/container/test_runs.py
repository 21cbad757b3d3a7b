"""The image at work: on the bundled submissions, restricted as on the platform or not, and on broken ones."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from test.phases import replace_in
from test.repository import CHOSEN

from .engine import (
    HARDENED,
    REPOSITORY,
    Run,
    docker,
    environment,
    evaluate,
    sealed_reference,
    submission_of,
)

pytestmark = pytest.mark.container

FROM_TARBALL = "/opt/ml/input/data/ground_truth"


def numbers(content: dict) -> dict[str, float]:
    """Return the numbers of a metrics.json by their dotted path."""
    found = {}

    def visit(path: str, value: object) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                visit(f"{path}.{key}", inner)
        elif isinstance(value, int | float):
            found[path] = value

    visit("", content)
    return found


@pytest.fixture(scope="module", params=CHOSEN)
def phase(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def local(phase, image_of, tmp_path_factory) -> dict:
    """Return what the package itself, outside any container, makes of the same sealed phase."""
    output = tmp_path_factory.mktemp("local")
    with sealed_reference(image_of(phase)) as reference:
        paths = {
            "--input": REPOSITORY / "test/input" / phase,
            "--ground-truth": reference,
            "--output": output,
        }
        subprocess.run(
            [
                sys.executable,
                "-m",
                "evaluation",
                "evaluate",
                *(word for pair in paths.items() for word in pair),
            ],
            cwd=REPOSITORY,
            check=True,
            capture_output=True,
        )
    return json.loads((output / "metrics.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def hardened(phase, image_of, tmp_path_factory) -> Run:
    """Return a run of the phase's image on its submission, restricted as on the platform and more."""
    folder = tmp_path_factory.mktemp("hardened")
    folder.chmod(0o755)
    return evaluate(image_of(phase), submission_of(phase, folder), *HARDENED)


def test_the_same_as_outside_the_container(local, hardened):
    assert (hardened.status, hardened.stderr) == (0, "")
    assert hardened.readable
    content = json.loads(hardened.metrics)
    assert content["phase"].pop("source") == "image"
    expected = {**local, "phase": {key: value for key, value in local["phase"].items() if key != "source"}}
    assert content["phase"] == expected["phase"]
    assert numbers(content) == pytest.approx(numbers(expected), rel=0, abs=1e-9)
    assert len(numbers(content)) > 5


@pytest.mark.parametrize("phase", ["refuge-onsite", "justraigs-phase1", "edd2020"], indirect=True)
def test_identical_bytes_without_restrictions_and_on_one_processor(phase, hardened, image_of, tmp_path):
    tmp_path.chmod(0o755)
    run = evaluate(image_of(phase), submission_of(phase, tmp_path), "--cpuset-cpus=0")
    assert (run.status, run.stderr) == (0, "")
    assert run.readable
    assert run.metrics == hardened.metrics is not None


def test_a_new_volume_takes_the_results(image, tmp_path):
    """The volume gets the owner of /output in the image."""
    tmp_path.chmod(0o755)
    submission = submission_of("refuge-onsite", tmp_path)
    volume = docker("volume", "create").stdout.strip()
    results = f"--volume={volume}:/output"
    try:
        options = ("run", "--rm", "--network=none", f"--volume={submission}:/input:ro", results)
        done = docker(*options, image)
        assert done.stdout.splitlines()[-1] == "Scored 40 cases of refuge-onsite: /output/metrics.json"
        assert done.stderr == ""
        summary = docker("run", "--rm", "--network=none", results, image, "summary", "/output/metrics.json")
        assert "refuge-onsite: 40 of 40 cases scored" in summary.stdout
    finally:
        docker("volume", "rm", volume)


def test_an_empty_submission_is_rejected(image, tmp_path):
    empty = tmp_path / "input"
    empty.mkdir(mode=0o755)
    run = evaluate(image, empty, *HARDENED)
    assert run.status == 1
    assert run.metrics is None
    assert len(run.stderr.splitlines()) == 1
    assert 0 < len(run.message) <= 1024
    assert "classification_results.csv" in run.message


def test_the_one_line_names_the_broken_image(image, tmp_path):
    submission = submission_of("refuge-onsite", tmp_path)
    broken = sorted((submission / "segmentation").iterdir())[3]
    broken.write_bytes(broken.read_bytes()[:200])
    run = evaluate(image, submission, *HARDENED)
    assert run.status == 1
    assert run.metrics is None
    assert len(run.stderr.splitlines()) == 1
    assert broken.name in run.message


def test_an_uploaded_reference_of_another_challenge_is_refused(image, image_of, tmp_path):
    tmp_path.chmod(0o755)
    submission = submission_of("refuge-onsite", tmp_path)
    with sealed_reference(image_of("edd2020")) as reference:
        mounted = f"--mount=type=bind,source={reference},target={FROM_TARBALL},readonly"
        run = evaluate(image, submission, *HARDENED, mounted)
    assert run.status == 1
    assert run.metrics is None
    assert "organisers" in run.message
    assert re.search("phase.toml: challenge: expected .* as in the image, found", run.stdout)


def test_sigterm_stops_process_1_without_a_result(image, tmp_path):
    tmp_path.chmod(0o755)
    submission = submission_of("refuge-onsite", tmp_path)
    mounted = f"--mount=type=bind,source={submission},target=/input,readonly"
    # a twentieth of a processor: Python itself starts within a second, the evaluation takes ten
    container = docker("run", "--detach", *HARDENED, "--cpus=0.05", mounted, image).stdout.strip()
    try:
        time.sleep(2)
        assert docker("inspect", "--format={{.State.Running}}", container).stdout.strip() == "true"
        docker("stop", "--time=5", container)
        status = docker("inspect", "--format={{.State.ExitCode}}", container).stdout.strip()
    finally:
        docker("rm", "--force", container)
    # 137 would mean that it ignored the signal and had to be killed
    assert status == "143"


def test_run_script_uses_the_container(image, tmp_path):
    finished = subprocess.run(
        [REPOSITORY / "run.sh", "refuge-onsite", tmp_path / "output"],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment(EVALUATION_ENGINE="docker", COLUMNS="120"),
    )
    assert finished.returncode == 0, finished.stderr
    assert "in the container" in finished.stderr
    content = json.loads((tmp_path / "output/metrics.json").read_text(encoding="utf-8"))
    assert f"{content['aggregates']['classification']['auc']['value']:.4f}" in finished.stdout


def test_plain_docker_build_makes_the_same_image(image, undisturbed, tmp_path):
    docker("build", "--quiet", "--tag=evaluation-test-plain", "--build-arg=PHASE=refuge-onsite", REPOSITORY)
    try:
        submission = submission_of("refuge-onsite", tmp_path)
        plain = evaluate("evaluation-test-plain", submission, *HARDENED)
        assert plain.status == 0
        assert numbers(json.loads(plain.metrics)) == numbers(json.loads(undisturbed))
    finally:
        docker("rmi", "evaluation-test-plain")


def test_a_build_without_a_phase_says_so(engine):
    finished = docker("build", "--quiet", REPOSITORY, check=False)
    assert finished.returncode != 0
    assert "--build-arg PHASE=" in finished.stdout + finished.stderr


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Return a copy of what an image is made of, with one phase named faulty, whose challenge is its own.

    The package is that of the other images, so that the engine has its layers.
    """
    for name in ("Dockerfile", ".dockerignore", "requirements.txt"):
        shutil.copy(REPOSITORY / name, tmp_path / name)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "evaluation", tmp_path / "evaluation", ignore=ignored)
    phase = tmp_path / "ground-truth" / "faulty"
    shutil.copytree(REPOSITORY / "ground-truth/refuge-onsite", phase)
    shutil.copy(REPOSITORY / "evaluation/challenges/refuge.py", phase / "challenge.py")
    replace_in(phase / "challenge.py", 'name="refuge"', 'name="faulty"')
    replace_in(phase / "phase.toml", 'challenge = "refuge"', 'challenge = "faulty"')
    return tmp_path


def assert_not_built(sources: Path, *problems: str) -> None:
    finished = docker("build", "--build-arg=PHASE=faulty", sources, check=False)
    assert finished.returncode != 0
    said = finished.stdout + finished.stderr
    assert [problem for problem in problems if problem not in said] == []


def test_a_phase_with_a_fault_of_its_configuration_is_not_built(engine, sources):
    replace_in(sources / "ground-truth/faulty/phase.toml", "seed", "no_such_key = 1\nseed")
    assert_not_built(sources, "unknown key no_such_key")


def test_a_phase_whose_challenge_scores_wrongly_is_not_built(engine, sources):
    """A metric says that lower is better, and a missing result is scored as a right one."""
    challenge = sources / "ground-truth/faulty/challenge.py"
    best_and_worst = "best={},\n                        worst={},"
    replace_in(challenge, best_and_worst.format(1, 0), best_and_worst.format(0, 1))
    replace_in(challenge, '"distance": image_diagonal(case.width, case.height)', '"distance": 0.0')
    assert_not_built(
        sources,
        "segmentation.dice_cup: the perfect submission gets 1, not the best value 0",
        "fovea.distance: the missing submission gets 0 and beats the near-perfect one",
    )
