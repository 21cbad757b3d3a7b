"""Tiny JustRAIGS phases and submissions, written through the project's own writers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.challenges.justraigs import kinds
from evaluation.challenges.justraigs.rules import CHALLENGE, FEATURES, JustraigsOptions
from evaluation.core.challenge import fields_of
from evaluation.io.tables import write_csv
from evaluation.organiser.submission_writer import AlgorithmWriter, InputImage
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import Phase, load_phase
from test.phases import configuration

FIELDS = fields_of(CHALLENGE.tasks(JustraigsOptions()))
INPUT = "stacked-color-fundus-images"
LIKELIHOODS = "multiple-referable-glaucoma-likelihoods"
DECISIONS = "multiple-referable-glaucoma-binary-decisions"
NONE = (False,) * len(FEATURES)
COLUMNS = (
    *("name", "stack_name", "stack_index", "cluster", "age", kinds.FINAL_COLUMN),
    *(*kinds.LABEL_COLUMNS, *kinds.FEATURE_COLUMNS),
)


@dataclass(frozen=True)
class Eye:
    """An eye with its final label, on which both graders agree, and the submitted values.

    ``features`` are the marks of both graders; ``second`` are the second grader's where they differ.
    """

    name: str
    label: str
    likelihood: float | None
    decision: bool | None = None
    features: str = "1010101010"
    second: str | None = None
    predicted: Sequence[bool | None] | None = NONE
    cluster: str = ""

    @property
    def values(self) -> dict[str, Any]:
        """The submitted values, without None."""
        given = {"likelihood": self.likelihood, "decision": self.decision, "features": self.predicted}
        return {name: value for name, value in given.items() if value is not None}


def stacks_of(eyes: Sequence[Eye], size: int) -> tuple[InputImage, ...]:
    """Return stacks of ``size`` eyes in their order, named batch_1.tiff and so on."""
    return tuple(
        InputImage(f"batch_{start // size + 1}.tiff", tuple(eye.name for eye in eyes[start : start + size]))
        for start in range(0, len(eyes), size)
    )


def justraigs_phase(
    folder: Path,
    eyes: Sequence[Eye],
    size: int = 3,
    *,
    keys: Mapping[str, Any] | None = None,
    tables: str = "",
) -> Phase:
    """Write and seal a phase folder, and return the phase."""
    folder.mkdir(parents=True, exist_ok=True)
    content = configuration("justraigs", {"submission": "algorithm", "resamples": 50, **(keys or {})}, tables)
    (folder / "phase.toml").write_text(content, encoding="utf-8")
    places = {
        name: (stack.name, str(index))
        for stack in stacks_of(eyes, size)
        for index, name in enumerate(stack.cases)
    }
    rows = []
    for eye in eyes:
        marks = [eye.features, eye.second or eye.features] if eye.label == "RG" else ["", ""]
        labels = [eye.label, eye.label, eye.label, ""]
        rows.append([eye.name, *places[eye.name], eye.cluster, "60", *labels, *marks, ""])
    write_csv(folder / "cases.csv", COLUMNS, rows)
    seal(folder, scan(folder))
    return load_phase(folder)


def justraigs_submission(
    folder: Path,
    eyes: Sequence[Eye],
    size: int = 3,
    *,
    edit: Callable[[list[dict[str, Any]]], Any] | None = None,
    **options: Any,
) -> Path:
    """Write a submission and return its folder; ``edit`` changes the jobs of `predictions.json` in place."""
    writer = AlgorithmWriter(folder, FIELDS, stacks_of(eyes, size), INPUT, **options)
    for eye in eyes:
        writer.add(eye.name, eye.values)
    writer.close()
    if edit is not None:
        path = folder / "predictions.json"
        jobs = json.loads(path.read_text(encoding="utf-8"))
        jobs.sort(key=lambda job: job["inputs"][0]["image"]["name"])
        changed = edit(jobs)
        path.write_text(json.dumps(jobs if changed is None else changed), encoding="utf-8")
    return folder
