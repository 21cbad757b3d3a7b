"""The index of a submission of either kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evaluation.core.challenge import Task
from evaluation.core.form import Form
from evaluation.platform.algorithm import index_algorithm
from evaluation.platform.archive import index_archive
from evaluation.platform.index import SubmissionIndex


def index_submission(folder: Path, form: Form, tasks: Sequence[Task]) -> SubmissionIndex:
    """Return the index of a submission; the form, not the folder, tells its kind."""
    index = index_algorithm if form.submission == "algorithm" else index_archive
    return index(folder, form, tasks)
