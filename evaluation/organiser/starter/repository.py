"""The files of a new repository."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from contextlib import suppress
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from urllib.request import url2pathname

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


PHASE, SUBMISSION = "phase", "submission"
_PLACES = {
    "README.md": "README.md",
    "gitignore": ".gitignore",
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
    }
    for template, place in _PLACES.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        text = Template(_template(template)).substitute(values)
        (folder / place).write_text(text, encoding="utf-8")
    _write_requirement(folder)


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


# --- Where the package comes from, for whoever installs it next ---

_PACKAGE = Path(evaluation.__file__).parent
_DISTRIBUTION = "challenge-evaluation"
_WHEEL = f"challenge_evaluation-{evaluation.__version__}-py3-none-any.whl"


def _write_requirement(folder: Path) -> None:
    """Write requirements.txt with the package from where this one came; a wheel is copied beside it.

    An installed package knows it (PEP 610): an index, an address or a file. One that runs in its repository
    comes from the repository's own address, and without one from a wheel that is still to be made.
    """
    found: dict[str, Any] = {"url": _PACKAGE.parent.as_uri(), "dir_info": {}}
    with suppress(metadata.PackageNotFoundError):
        installed = metadata.distribution(_DISTRIBUTION)
        if Path(str(installed.locate_file("evaluation"))) == _PACKAGE:
            found = json.loads(installed.read_text("direct_url.json") or "{}")
    url = str(found.get("url", ""))
    source = Path(url2pathname(urlsplit(url).path)) if url.startswith("file:") else None
    if "vcs_info" in found:
        line = f"{_DISTRIBUTION} @ git+{url}@{found['vcs_info']['commit_id']}"
    elif not found:
        line = f"{_DISTRIBUTION}=={evaluation.__version__}"
    elif source is None:
        line = f"{_DISTRIBUTION} @ {url}"
    elif address := _address_of(source):
        line = f"{_DISTRIBUTION} @ {address}"
    else:
        line = f"./{_WHEEL}"
        if source.name == _WHEEL and source.is_file():
            shutil.copy(source, folder)
        else:
            make = "in its repository `pip wheel --no-deps .` makes this wheel"
            line = f"# The package has no address yet: {make}; put it here.\n{line}"
    (folder / "requirements.txt").write_text(f"{line}\n", encoding="utf-8")


def _address_of(repository: Path) -> str | None:
    """Return the address and commit of a git repository for pip, None for a folder that has none."""
    git = ["git", "-C", str(repository)]
    try:
        questions = (["ls-files", "pyproject.toml"], ["remote", "get-url", "origin"], ["rev-parse", "HEAD"])
        answers = [
            subprocess.run([*git, *question], capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
            for question in questions
        ]
    except (OSError, subprocess.CalledProcessError):
        return None
    tracked, address, commit = answers
    parts = urlsplit(address)
    public = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))  # without a password
    return f"git+{public}@{commit}" if tracked and parts.scheme else None
