"""The image at work: on the bundled submissions, restricted as on the platform or not; what is not built."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from evaluation.phase.manifest import scan, seal
from test.phases import refuge_phase, replace_in
from test.started import run as run_here

from .engine import HARDENED, REPOSITORY, Run, docker, evaluate, sealed_reference, submission_of

pytestmark = pytest.mark.container

OF_FORMS = ("refuge-onsite", "justraigs-phase1")
"""A phase of folders and one of jobs."""
OF_FORMATS = ("adam-onsite", "cysts", "edd2020")
"""Phases whose submissions have other formats of files; any image scores them from a folder."""


def content_of(metrics: str | bytes) -> dict:
    """Return the content of a metrics.json, without what another processor may have in the last digits."""
    return json.loads(metrics, parse_float=lambda text: round(float(text), 8))


def scored_here(phase: Path, name: str, output: Path) -> dict:
    """Return what the package itself, outside of any container, makes of a sealed phase's submission."""
    places = ("--input", REPOSITORY / "test/input" / name, "--ground-truth", phase, "--output", output)
    done = run_here("evaluate", *places)
    assert done.returncode == 0, done.stderr
    return content_of((output / "metrics.json").read_text(encoding="utf-8"))


def assert_same(run: Run, local: dict, source: str) -> None:
    assert (run.status, run.stderr) == (0, "")
    assert run.readable
    assert content_of(run.metrics) == {**local, "phase": {**local["phase"], "source": source}}


@pytest.mark.parametrize("phase", OF_FORMS)
def test_the_same_as_outside_the_container_whatever_its_restrictions(phase, image_of, tmp_path):
    tmp_path.chmod(0o755)
    image, submission = image_of(phase), submission_of(phase, tmp_path)
    hardened = evaluate(image, submission, *HARDENED)
    with sealed_reference(image) as reference:
        assert_same(hardened, scored_here(reference, phase, tmp_path / "here"), "image")
    run = evaluate(image, submission, "--cpuset-cpus=0")
    assert (run.status, run.stderr, run.metrics) == (0, "", hardened.metrics)


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


def test_run_script_uses_the_container(image, tmp_path):
    finished = subprocess.run(
        [REPOSITORY / "run.sh", "refuge-onsite", tmp_path / "output"],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "EVALUATION_ENGINE": "docker", "COLUMNS": "120"},
    )
    assert finished.returncode == 0, finished.stderr
    assert "in the container" in finished.stderr
    content = json.loads((tmp_path / "output/metrics.json").read_text(encoding="utf-8"))
    assert f"{content['aggregates']['classification']['auc']['value']:.4f}" in finished.stdout


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
    replace_in(challenge, "best=0, worst=1", "best=1, worst=0")
    shown = "structures=metric.structures[-1:]),)"
    replace_in(challenge, shown, f"{shown}, worst=lambda references: {{name: 1.0}}")
    assert_not_built(
        sources,
        "segmentation.vertical_cup_to_disc_ratio_error: the perfect submission gets 0, not the best value 1",
        "segmentation.dice_disc: the missing submission gets 1 and beats the near-perfect one",
    )
