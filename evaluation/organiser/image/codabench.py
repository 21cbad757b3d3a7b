"""The bundle of a competition on Codabench, from a phase and its image.

competition.yaml       pages, one phase, one leaderboard with the columns of the phase
reference_data.zip     the sealed reference, taken out of the image
scoring_program.zip    the command that the image runs; the image itself comes from a registry

Source: the documentation of competition bundles, version 2, and the compute worker of codalab/codabench.
"""

import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.codabench import column_key, columns_of
from evaluation.core.fault import PhaseError
from evaluation.io.files import write_atomically
from evaluation.organiser.image.build import BuiltImage, engine
from evaluation.phase.form_file import format_in_words
from evaluation.phase.leaderboard import digits_of
from evaluation.phase.phase import Phase

FILE_NAME = "competition.zip"
_COMMAND = "evaluate --for codabench"
_TIME = (2025, 1, 1, 0, 0, 0)
_START = "2025-01-01"
_RUN = ("run", "--rm", "--network=none", "--read-only", "--entrypoint=tar")


def require_bundle(phase: Phase) -> None:
    """Raise `PhaseError` for a phase that Codabench cannot have: its participants upload files."""
    if phase.config.submission != "archive":
        raise PhaseError("--for codabench: expected submission = 'archive', found 'algorithm'")


def image_for_codabench(image: BuiltImage) -> str:
    """Build the image as Codabench runs it, as root, whose folder for results only root may write."""
    name = f"{image.name}-codabench"
    engine("build", "--quiet", "--tag", name, "-", given=f"FROM {image.name}\nUSER root\n".encode())
    return name


def write_bundle(phase: Phase, image: BuiltImage, docker_image: str, output: Path) -> Path:
    """Write the bundle into a folder and return its path. Raises `PhaseError` and `OSError`."""
    packed = engine(*_RUN, image.name, "--create", "--directory=ground-truth", "--sort=name", ".")
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
        reference = {
            member.name.removeprefix("./"): read.read()
            for member in members
            if (read := archive.extractfile(member)) is not None
        }
    files = {
        "competition.yaml": _json(competition_of(phase, docker_image)),
        "logo.png": _logo(),
        "overview.md": f"# {phase.config.title}\n".encode(),
        "format.md": format_in_words(phase.form).encode(),
        "terms.md": b"# Terms\n\nWrite the terms of the competition here.\n",
        "reference_data.zip": _zip(reference),
        "scoring_program.zip": _zip({"metadata.yaml": _json({"command": _COMMAND})}),
    }
    output.mkdir(parents=True, exist_ok=True)
    write_atomically(output / FILE_NAME, _zip(files))
    return output / FILE_NAME


def competition_of(phase: Phase, docker_image: str) -> dict[str, Any]:
    """Return the content of `competition.yaml`."""
    submissions = phase.config.submissions
    figures = phase.challenge.figures_of(phase.tasks)
    columns = [
        {
            "title": figures[name].title,
            "key": column_key(name),
            "index": index,
            "sorting": "desc" if figures[name].better == "higher" else "asc",
            "precision": digits_of(phase.config, name).value,
        }
        for index, name in enumerate(columns_of(phase))
    ]
    named = {"index": 0, "name": phase.config.title, "description": f"Phase {phase.config.name}"}
    of_phase: dict[str, Any] = {
        **named,
        "start": submissions.opens_at.isoformat() if submissions.opens_at else _START,
        "tasks": [0],
    }
    if submissions.closes_at is not None:
        of_phase["end"] = submissions.closes_at.isoformat()
    if submissions.limit is not None:
        per_day = "max_submissions_per_day" if submissions.period_days == 1 else "max_submissions"
        of_phase[per_day] = submissions.limit
    packed = {"reference_data": "reference_data.zip", "scoring_program": "scoring_program.zip"}
    pages = [{"title": "Overview", "file": "overview.md"}, {"title": "Format", "file": "format.md"}]
    board = {"index": 0, "title": phase.config.title, "key": "main", "columns": columns}
    return {
        "version": 2,
        "title": phase.config.title,
        "image": "logo.png",
        "terms": "terms.md",
        "docker_image": docker_image,
        "enable_detailed_results": True,
        "pages": pages,
        "tasks": [named | packed],
        "phases": [of_phase],
        "leaderboards": [board],
    }


def _json(content: Mapping[str, Any]) -> bytes:
    """Return content as JSON, which is YAML too."""
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _zip(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _TIME), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _logo() -> bytes:
    from PIL import Image

    data = io.BytesIO()
    Image.new("RGB", (64, 64), (40, 90, 140)).save(data, "PNG")
    return data.getvalue()
