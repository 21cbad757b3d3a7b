"""The files of a new repository."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from urllib.request import url2pathname

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import evaluation
from evaluation.core.fault import PhaseError

Row = Sequence[object]
_CASES, _PATIENTS = 12, 60
_IMAGE = (96, 128)  # (y, x)
_VOLUME = (24, 64, 64)  # (z, y, x)
_SPACING_MM = (0.9, 0.9, 2.5)  # (x, y, z)
_TABLE = "predictions.csv"


def write_sample(like: str, phase: Path, submission: Path) -> None:
    """Write the cases of a phase and a submission to it; the same ones each time. KeyError if unknown."""
    _WRITERS[like](phase, submission, np.random.Generator(np.random.PCG64(0)))


def _names() -> list[str]:
    return [f"case{number:02d}" for number in range(1, _CASES + 1)]


def _write_table(path: Path, header: Row, rows: Sequence[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _write_columns(
    phase: Path, submission: Path, true: Mapping[str, NDArray[Any]], found: Mapping[str, NDArray[Any]]
) -> None:
    names = [f"case{number:03d}" for number in range(1, _PATIENTS + 1)]
    for path, key, columns in ((phase / "cases.csv", "name", true), (submission / _TABLE, "case", found)):
        _write_table(path, (key, *columns), list(zip(names, *columns.values(), strict=True)))


def _disc(shape: Sequence[int], centre: NDArray[Any], radii: NDArray[Any]) -> NDArray[np.bool_]:
    """Return an ellipse or ellipsoid, its centre and semi-axes in pixels in the order of the shape."""
    parts = zip(np.indices(shape), centre, radii, strict=True)
    inside: NDArray[np.bool_] = np.sum([((index - c) / r) ** 2 for index, c, r in parts], axis=0) <= 1
    return inside


def _segmentation(phase: Path, submission: Path, random: np.random.Generator) -> None:
    for name in _names():
        centre = random.uniform((40, 50), (56, 78))
        radii = random.uniform((20, 20), (30, 30))
        for folder, deviation in ((phase / "labels", 0.0), (submission / "segmentation", 1.5)):
            image = np.zeros(_IMAGE, np.uint8)
            moved = centre + random.normal(0, deviation, 2)
            image[_disc(_IMAGE, moved, radii)] = 1
            image[_disc(_IMAGE, moved, radii * (0.5 + random.normal(0, deviation / 40)))] = 2
            folder.mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(folder / f"{name}.png")
    rows = [(name, _IMAGE[1], _IMAGE[0]) for name in _names()]
    _write_table(phase / "cases.csv", ("name", "width", "height"), rows)


def _ct_segmentation(phase: Path, submission: Path, random: np.random.Generator) -> None:
    import SimpleITK

    organs = np.array([((12, 28, 20), (7, 16, 12)), ((11, 26, 50), (5, 8, 7)), ((10, 44, 36), (3, 5, 12))])
    for name in _names():
        shift = random.normal(0, 1.5, 3)
        for folder, deviation in ((phase / "labels", 0.0), (submission / "organs", 0.6)):
            volume = np.zeros(_VOLUME, np.uint8)
            for label, (centre, radii) in enumerate(organs, start=1):
                moved = centre + shift + random.normal(0, deviation, 3)
                volume[_disc(_VOLUME, moved, radii)] = label
            image = SimpleITK.GetImageFromArray(volume)
            image.SetSpacing(_SPACING_MM)
            folder.mkdir(parents=True, exist_ok=True)
            SimpleITK.WriteImage(image, str(folder / f"{name}.nii.gz"), useCompression=True)
    depth, height, width = _VOLUME
    spacing = " ".join(map(str, _SPACING_MM))
    header = ("name", "width", "height", "depth", "spacing_mm", "origin_mm", "direction")
    rows = [(name, width, height, depth, spacing, "0 0 0", "1 0 0 0 1 0 0 0 1") for name in _names()]
    _write_table(phase / "cases.csv", header, rows)


def _classification(phase: Path, submission: Path, random: np.random.Generator) -> None:
    classes = random.choice(["diseased", "healthy", "ungradable"], _PATIENTS, p=[0.3, 0.6, 0.1])
    likelihood = random.normal(0.35 + 0.3 * (classes == "diseased"), 0.2).clip(0, 1).round(3)
    _write_columns(phase, submission, {"class": classes}, {"likelihood": likelihood})


def _multiclass(phase: Path, submission: Path, random: np.random.Generator) -> None:
    grades = random.integers(0, 5, _PATIENTS)
    found = (grades + random.choice([-1, 0, 0, 1], _PATIENTS)).clip(0, 4)
    _write_columns(phase, submission, {"grade": grades}, {"grade": found})


def _regression(phase: Path, submission: Path, random: np.random.Generator) -> None:
    ages = random.integers(20, 91, _PATIENTS)
    found = (ages + random.normal(0, 6, _PATIENTS)).clip(0, 120).round(1)
    _write_columns(phase, submission, {"age": ages}, {"age": found})


def _survival(phase: Path, submission: Path, random: np.random.Generator) -> None:
    months = random.exponential(30, _PATIENTS).round(1)
    events = random.integers(0, 2, _PATIENTS)
    found = (months * random.lognormal(0, 0.6, _PATIENTS)).round(1)
    _write_columns(phase, submission, {"time": months, "event": events}, {"months": found})


def _points(phase: Path, submission: Path, random: np.random.Generator) -> None:
    true: list[Row] = []
    found: list[Row] = []
    for name in _names():
        positions = random.uniform(0, 2, (random.integers(2, 8), 2))
        true += [(name, *position) for position in positions.round(4).tolist()]
        kept = positions[random.random(len(positions)) < 0.8]
        hits = (kept + random.normal(0, 0.002, kept.shape)).round(4)
        false = random.uniform(0, 2, (random.integers(0, 3), 2)).round(4)
        found += [(name, *hit, round(random.uniform(0.4, 1), 3)) for hit in hits.tolist()]
        found += [(name, *miss, round(random.uniform(0, 0.6), 3)) for miss in false.tolist()]
    _write_table(phase / "cases.csv", ("name",), [(name,) for name in _names()])
    _write_table(phase / "mitoses.csv", ("case", "x", "y"), true)
    _write_table(submission / _TABLE, ("case", "x", "y", "probability"), found)


def _detection(phase: Path, submission: Path, random: np.random.Generator) -> None:
    height, width = _IMAGE
    true: list[Row] = []
    found: list[Row] = []
    for name in _names():
        for _ in range(random.integers(1, 4)):
            corner = random.integers((0, 0), (width - 40, height - 40))
            size = random.integers(15, 40, 2)
            label = str(random.choice(["polyp", "cancer"]))
            true.append((name, *corner.tolist(), *(corner + size).tolist(), label))
            if random.random() < 0.85:
                moved = (corner + random.integers(-3, 4, 2)).clip(0)
                end = np.minimum(moved + size, (width, height))
                found.append((name, *moved.tolist(), *end.tolist(), label, round(random.uniform(0.3, 1), 3)))
    sizes = [(name, width, height) for name in _names()]
    _write_table(phase / "cases.csv", ("name", "width", "height"), sizes)
    corners = ("case", "x1", "y1", "x2", "y2", "class")
    _write_table(phase / "polyps.csv", corners, true)
    _write_table(submission / _TABLE, (*corners, "probability"), found)


_WRITERS: Mapping[str, Callable[[Path, Path, Any], None]] = {
    "segmentation": _segmentation,
    "ct-segmentation": _ct_segmentation,
    "classification": _classification,
    "multiclass": _multiclass,
    "regression": _regression,
    "detection": _detection,
    "points": _points,
    "survival": _survival,
}
KINDS = tuple(_WRITERS)
"""The templates of a new repository."""


PHASE, SUBMISSION = "phase", "submission"
_PLACES = {
    "README.md": "README.md",
    "gitignore": ".gitignore",
    "evaluate.yml": ".github/workflows/evaluate.yml",
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
