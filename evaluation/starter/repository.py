"""The files of a new repository."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from string import Template

import evaluation
from evaluation.core.fault import PhaseError
from evaluation.starter.samples import write_sample

BASE_IMAGE = "evaluation-base"
"""The image with the package and without any phase, made by `build.sh --base`."""

PHASE, SUBMISSION = "phase", "submission"
_PLACES = {
    "Dockerfile": "Dockerfile",
    "README.md": "README.md",
    "evaluate.yml": ".github/workflows/evaluate.yml",
    "gitignore": ".gitignore",
    "dockerignore": ".dockerignore",
}


def write_repository(folder: Path, like: str) -> None:
    """Write a repository with a declared phase and a synthetic sample into a folder that is new or empty.

    The phase is named after the folder. Raises `PhaseError` if the folder holds anything.
    """
    require_empty(folder)
    name = phase_name(folder)
    title = name.replace("-", " ").capitalize()
    head = Template(_template("head.toml")).substitute(name=name, title=title, version=evaluation.__version__)
    (folder / PHASE).mkdir(parents=True)
    (folder / PHASE / "phase.toml").write_text(f"{head}\n{_template(f'{like}.toml')}", encoding="utf-8")
    write_sample(like, folder / PHASE, folder / SUBMISSION)
    write_surroundings(folder, name, title)


def write_surroundings(folder: Path, name: str, title: str) -> None:
    """Write the files of a repository other than its phase and submission."""
    values = {
        "name": name,
        "title": title,
        "version": evaluation.__version__,
        "base": f"{BASE_IMAGE}:{evaluation.__version__}",
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
    return (files("evaluation.starter") / "templates" / name).read_text(encoding="utf-8")
