"""The image at work: on the bundled submissions, restricted as on the platform or not; what is not built."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from evaluation.phase.manifest import scan, seal
from test.phases import refuge_phase, replace_in
from test.repository import PHASES
from test.started import run as run_here

from .engine import HARDENED, REPOSITORY, Run, docker, environment, evaluate, sealed_reference, submission_of

pytestmark = pytest.mark.container

OF_FORMS = ("refuge-onsite", "justraigs-phase1")
"""A phase of folders and one of jobs; the images of the others are built once a week."""
OF_FORMATS = ("adam-onsite", "cysts", "edd2020")
"""Phases whose submissions have other formats of files; any image scores them from a folder."""


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


def scored_here(phase: Path, name: str, output: Path) -> dict:
    """Return what the package itself, outside of any container, makes of a sealed phase's submission."""
    places = ("--input", REPOSITORY / "test/input" / name, "--ground-truth", phase, "--output", output)
    done = run_here("evaluate", *places)
    assert done.returncode == 0, done.stderr
    return json.loads((output / "metrics.json").read_text(encoding="utf-8"))


def assert_same(run: Run, local: dict, source: str) -> None:
    assert (run.status, run.stderr) == (0, "")
    assert run.readable
    content = json.loads(run.metrics)
    assert content["phase"].pop("source") == source
    assert content["phase"] == {key: value for key, value in local["phase"].items() if key != "source"}
    assert numbers(content) == pytest.approx(numbers(local), rel=0, abs=1e-9)
    assert len(numbers(content)) > 5


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=() if name in OF_FORMS else pytest.mark.weekly, id=name) for name in PHASES
    ],
)
def phase(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def hardened(phase, image_of, tmp_path_factory) -> Run:
    """Return a run of the phase's image on its submission, restricted as on the platform and more."""
    folder = tmp_path_factory.mktemp("hardened")
    folder.chmod(0o755)
    return evaluate(image_of(phase), submission_of(phase, folder), *HARDENED)


def test_the_same_as_outside_the_container(phase, hardened, image_of, tmp_path):
    with sealed_reference(image_of(phase)) as reference:
        assert_same(hardened, scored_here(reference, phase, tmp_path), "image")


def test_identical_bytes_without_restrictions_and_on_one_processor(phase, hardened, image_of, tmp_path):
    tmp_path.chmod(0o755)
    run = evaluate(image_of(phase), submission_of(phase, tmp_path), "--cpuset-cpus=0")
    assert (run.status, run.stderr) == (0, "")
    assert run.metrics == hardened.metrics is not None


@pytest.mark.parametrize("name", OF_FORMATS)
def test_an_image_reads_the_formats_of_other_challenges(name, image, tmp_path):
    """Volumes, stacks of images and boxes: the image has all that their decoders take."""
    tmp_path.chmod(0o755)
    ignored = shutil.ignore_patterns("manifest.json")
    phase = Path(shutil.copytree(REPOSITORY / "ground-truth" / name, tmp_path / "phase", ignore=ignored))
    seal(phase, scan(phase))
    for path in (phase, *phase.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    mounted = f"--mount=type=bind,source={phase},target=/phase,readonly"
    arguments = ("evaluate", "--ground-truth", "/phase")
    run = evaluate(image, submission_of(name, tmp_path), *HARDENED, mounted, arguments=arguments)
    assert_same(run, scored_here(phase, name, tmp_path / "here"), "folder")


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
    phase = refuge_phase(tmp_path / "ground-truth" / "faulty", 6, sealed=False)
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
    replace_in(sources / "ground-truth/faulty/phase.toml", "resamples", "no_such_key = 1\nresamples")
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
