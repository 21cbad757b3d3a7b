"""Folders of results for the tests, as `evaluate --each` writes them, from columns instead of images."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from evaluation.challenges.refuge import CHALLENGE, RefugeOptions
from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.scheme import Scheme
from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.leaderboard import RankedPhase, rank_phase
from evaluation.organiser.ranking.result_tables import MetricDefinition, read_results_table
from evaluation.organiser.ranking.results import read_results
from evaluation.phase.places import scheme_of
from evaluation.platform.result_file import render

TASKS = {task.name: task for task in CHALLENGE.tasks(RefugeOptions())}
CUP, DISC, ERROR = "dice_cup", "dice_disc", "vertical_cup_to_disc_ratio_error"
Columns = Mapping[str, Mapping[str, np.ndarray]]


def labels(cases: int, positives: int) -> np.ndarray:
    return (np.arange(cases) < positives).astype(float)


def refuge_columns(
    glaucoma: np.ndarray, rng: np.random.Generator, separation: float, dice: float
) -> dict[str, dict[str, np.ndarray]]:
    """Columns of the two ranked tasks of REFUGE for one team of a given quality."""
    cases = len(glaucoma)
    return {
        "classification": {
            "likelihood": rng.normal(size=cases) + separation * glaucoma,
            "glaucoma": glaucoma,
        },
        "segmentation": {
            CUP: np.clip(dice + 0.05 * rng.normal(size=cases), 0, 1),
            DISC: np.clip(dice + 0.04 + 0.02 * rng.normal(size=cases), 0, 1),
            ERROR: np.abs((1 - dice) / 3 + 0.02 * rng.normal(size=cases)),
        },
    }


def write_team(
    folder: Path,
    columns: Columns,
    table: Mapping[str, Sequence[str]] | None = None,
    *,
    phase: str = "refuge-test",
    with_cases: bool = True,
    seed: int = 3,
    resamples: int = 200,
    interval_minimum: int = 10,
) -> None:
    """Write metrics.json and cases.json. ``columns``: by task and column; NaN: undefined."""
    cases = len(next(iter(next(iter(columns.values())).values())))
    names = [f"C{position:04}" for position in range(cases)]
    rows = {
        task: [
            dict(zip(of_task, values, strict=True))
            for values in zip(*map(to_list, of_task.values()), strict=True)
        ]
        for task, of_task in columns.items()
    }
    aggregates = {
        task: {
            name: {"value": value}
            for name, value in metric_values(TASKS[task].metrics, CaseTable(names, rows[task])).items()
            if not math.isnan(value)
        }
        for task in columns
    }
    content = {
        "phase": {
            "challenge": "refuge",
            "name": phase,
            "manifest": f"digest of {phase}",
            "options": RefugeOptions().recorded(),
        },
        "aggregates": aggregates,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "metrics.json").write_bytes(render(content))
    if not with_cases:
        return
    table = table or {}
    recorded = {
        "phase": phase,
        "manifest": f"digest of {phase}",
        "resampling": {"seed": seed, "resamples": resamples, "interval_minimum": interval_minimum},
        "cases": [
            {
                "name": name,
                "table": {"name": name, **{column: cells[position] for column, cells in table.items()}},
                "tasks": {
                    task: {
                        column: str(value) if math.isinf(value) else value
                        for column, value in rows[task][position].items()
                        if not math.isnan(value)
                    }
                    for task in rows
                },
            }
            for position, name in enumerate(names)
        ],
    }
    (folder / "cases.json").write_text(json.dumps(recorded), encoding="ascii")


def to_list(values: np.ndarray) -> list[float]:
    return [float(value) for value in values]


def ranked(folder: Path, **choices: object) -> RankedPhase:
    """Rank a folder of results by the scheme of its challenge."""
    results = read_results(folder)
    return rank_phase(results, scheme_of(results.challenge, results.options), RankOptions(**choices))


def ranked_table(
    folder: Path,
    text: str,
    metrics: Mapping[str, MetricDefinition],
    scheme: Scheme | None = None,
    **choices: object,
) -> RankedPhase:
    """Rank a table of results, by the scheme that follows from its metrics if none is given."""
    (folder / "results.csv").write_text(text, encoding="utf-8")
    results = read_results_table(folder / "results.csv", metrics)
    scheme = scheme or scheme_of(results.challenge, results.options)
    return rank_phase(results, scheme, RankOptions(**{"resamples": 0, **choices}))
