"""The files of a new repository."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from string import Template

import evaluation
from evaluation.core.fault import PhaseError
from evaluation.organiser.starter.sample import write_sample

KINDS = (
    "segmentation",
    "ct-segmentation",
    "classification",
    "multiclass",
    "regression",
    "detection",
    "points",
    "survival",
)
"""The templates of a new repository."""


BASE_IMAGE, BUILDER_IMAGE = "evaluation-base", "evaluation-builder"
"""The images with the package and without any phase, which `build.sh --base` makes.

The builder has the whole package, and seals and rehearses a phase; the image of the phase starts from the
base, which has no code for organisers.
"""

PHASE, SUBMISSION = "phase", "submission"
_PLACES = {
    "Dockerfile": "Dockerfile",
    "README.md": "README.md",
    "gitignore": ".gitignore",
    "dockerignore": ".dockerignore",
    "evaluate.yml": ".github/workflows/evaluate.yml",
}


def write_repository(folder: Path, like: str, algorithm: bool = False) -> None:
    """Write a repository with a declared phase and a synthetic sample into a folder that is new or empty.

    The phase is named after the folder. With ``algorithm`` the sample is `predictions.json` with its jobs.
    Raises `PhaseError` if the folder holds anything.
    """
    require_empty(folder)
    name = phase_name(folder)
    title = name.replace("-", " ").capitalize()
    head = Template(_template("head.toml")).substitute(
        name=name,
        title=title,
        submission='"algorithm"\ninput_socket = "image"' if algorithm else '"archive"',
    )
    (folder / PHASE).mkdir(parents=True)
    (folder / PHASE / "phase.toml").write_text(f"{head}\n{_template(f'{like}.toml')}", encoding="utf-8")
    write_sample(folder / PHASE, folder / SUBMISSION)
    write_surroundings(folder, name, title)


def write_surroundings(folder: Path, name: str, title: str) -> None:
    """Write the files of a repository other than its phase and submission."""
    values = {
        "name": name,
        "title": title,
        "version": evaluation.__version__,
        "base": f"{BASE_IMAGE}:{evaluation.__version__}",
        "builder": f"{BUILDER_IMAGE}:{evaluation.__version__}",
    }
    for template, place in _PLACES.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        text = Template(_template(template)).substitute(values)
        (folder / place).write_text(text, encoding="utf-8")


def require_empty(folder: Path) -> None:
    """Raise `PhaseError` unless a folder is new or empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise PhaseError(f"{folder}: expected a new or empty folder, found one with content")


def phase_name(folder: Path) -> str:
    """Return the name of the phase in a repository of that folder. Raises `PhaseError` if it has none."""
    name = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")[:64]
    if not name:
        raise PhaseError(f"{folder}: expected a name with letters or digits")
    return name


def _template(name: str) -> str:
    return (files("evaluation.organiser.starter") / "templates" / name).read_text(encoding="utf-8")
