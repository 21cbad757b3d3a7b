"""A tiny phase with submissions of three teams (a folder, a zip, a rejected one), and tasks for them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from evaluation.core.challenge import fields_of
from evaluation.organiser.rescoring.scorer import Scorer
from evaluation.organiser.rescoring.submissions import find_submissions
from evaluation.organiser.rescoring.task import Answer, Answers, ScoringTask, environment
from evaluation.phase.phase import load_phase
from evaluation.platform.archive import folders_of
from test.phases import refuge_phase, refuge_submission

CASES = 6
BEFORE = {"bad": "rejected", "folder": "scored", "packed": "scored"}
"""The results of the teams when they are scored for the first time."""


def write_teams(folder: Path) -> tuple[Path, Path]:
    """Write a sealed phase and a folder of submissions; return both."""
    phase, submissions = refuge_phase(folder / "phase", CASES), folder / "submissions"
    refuge_submission(submissions / "folder", CASES)
    refuge_submission(submissions / "bad", CASES, change=lambda case, values: {})
    worse = refuge_submission(
        folder / "worse", CASES, change=lambda case, values: {**values, "glaucoma_risk": 0.5}
    )
    shutil.make_archive(str(submissions / "packed"), "zip", worse)
    return phase, submissions


def tasks_of(phase: Path | str, submissions: Path | str, **changes: object) -> list[ScoringTask]:
    """Return the tasks of all submissions in a folder, on phases and folders by path or address."""
    loaded = None if "://" in str(phase) else load_phase(Path(phase))
    seal = changes.pop("seal", None) or loaded.manifest.digest
    own = set() if loaded is None else folders_of(fields_of(loaded.tasks))
    return [
        replace(
            ScoringTask(name, str(phase), "folder", str(seal), location, environment(), workers=1),
            **changes,
        )
        for name, location in find_submissions(str(submissions), own)[0].items()
    ]


def many(submissions: Path, count: int) -> None:
    """Write copies of a tiny submission, which differ in one likelihood."""
    for number in range(count):
        refuge_submission(
            submissions / f"team{number:03}",
            CASES,
            change=lambda case, values, number=number: {
                **values,
                "glaucoma_risk": round(0.1 + 0.01 * number, 3),
            },
        )


def results_in(folder: Path) -> dict[str, bytes]:
    """Return the content of all results below a folder by path, without the records."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".kept" not in path.parts
    }


class Here:
    """An engine that answers in this process, with given answers or by scoring."""

    def __init__(self, answers: dict[str, Answer] | None = None) -> None:
        self._answers = answers or {}
        self.asked: list[ScoringTask] = []

    def __enter__(self) -> Here:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave everything as it is."""

    def run(self, tasks: Iterator[ScoringTask]) -> Answers:
        scorer = Scorer()
        for task in tasks:
            self.asked.append(task)
            yield task, self._answers.get(task.place) or scorer.answer(replace(task, workers=0))
