"""Leaderboards with uncertainty, against a straightforward loop with pandas, scikit-learn and SciPy.

    python -m benchmarks.ranking

20 teams, 400 cases, three metrics (AUC and two means), 1000 resamples and the tests of all 190 pairs; then a
folder of 600 submissions, with and without results per case. Both sides work on the same arrays in memory and
give the same p-values and, up to the draws, the same probabilities of first place.

Last, whole processes of `python -m evaluation rank`, imports and files included: wall-clock time, and
processor time, which other programs on the machine disturb less. The two of JustRAIGS at full size differ by
the tests of one pair, a randomisation of the sensitivity among them.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
from scipy.stats import norm, rankdata, wilcoxon
from sklearn.metrics import roc_auc_score

from benchmarks.measure import evaluate_command, write_sample
from evaluation.challenges.refuge import CHALLENGE, RefugeOptions
from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import metrics_of
from evaluation.core.resampling import Resampling
from evaluation.core.scheme import Board, Scheme, Term
from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.comparisons import compare
from evaluation.organiser.ranking.differences import Compared
from evaluation.organiser.ranking.leaderboard import rank_phase
from evaluation.organiser.ranking.resampling import TeamCases, resample_teams
from evaluation.organiser.ranking.results import read_results
from evaluation.organiser.ranking.stability import place_distributions
from evaluation.phase.places import place_teams, scheme_of

TEAMS, CASES, POSITIVES, RESAMPLES = 20, 400, 40, 1000
NAMES = ("classification.auc", "segmentation.dice_cup", "segmentation.dice_disc")
METRICS = {name: metrics_of(CHALLENGE.tasks(RefugeOptions()))[name] for name in NAMES}
WEIGHTS = (Decimal("0.4"), Decimal("0.35"), Decimal("0.25"))
Result = TypeVar("Result")


def timed(function: Callable[[], Result]) -> tuple[float, Result]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def draw(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    label = np.arange(CASES) < POSITIVES
    quality = np.linspace(1.0, 0.0, TEAMS)[:, np.newaxis]
    likelihood = rng.normal(size=(TEAMS, CASES)) + (1 + quality) * label + rng.normal(size=CASES)
    cup = np.clip(0.8 + 0.02 * quality + 0.08 * rng.normal(size=(TEAMS, CASES)), 0, 1)
    disc = np.clip(0.9 + 0.01 * quality + 0.04 * rng.normal(size=(TEAMS, CASES)), 0, 1)
    return label, likelihood, cup, disc


def ours(
    label: np.ndarray, likelihood: np.ndarray, cup: np.ndarray, disc: np.ndarray
) -> tuple[dict[str, list[float | None]], list[float]]:
    names = [f"C{case:04}" for case in range(CASES)]
    tables = tuple(
        {
            "classification": CaseTable(
                names,
                [
                    {"likelihood": x, "glaucoma": y}
                    for x, y in zip(likelihood[team].tolist(), label.tolist(), strict=True)
                ],
            ),
            "segmentation": CaseTable(
                names,
                [
                    {"dice_cup": x, "dice_disc": y}
                    for x, y in zip(cup[team].tolist(), disc[team].tolist(), strict=True)
                ],
            ),
        }
        for team in range(TEAMS)
    )
    teams = TeamCases(tuple(f"T{team:02}" for team in range(TEAMS)), tables)
    resampled = resample_teams(METRICS, teams, Resampling(1, RESAMPLES, 10))
    scheme = Scheme(
        (
            Board(
                "overall",
                tuple(Term(rank=name, weight=weight) for name, weight in zip(NAMES, WEIGHTS, strict=True)),
            ),
        )
    )
    places = (
        place_teams(scheme, resampled.values, {name: metric.better for name, metric in METRICS.items()})
        .boards["overall"]
        .places
    )
    distributions = place_distributions(places)
    resampling = Resampling(1, RESAMPLES, 10)
    p_values: dict[str, list[float | None]] = {}
    for name, metric in METRICS.items():
        task = name.partition(".")[0]
        values = {
            team: metric_values([metric], team_table[task])[metric.name]
            for team, team_table in zip(teams.teams, tables, strict=True)
        }
        compared = Compared(metric, teams.task_tables(task), resampling, means="signed-rank")  # as the loop
        found = compare(values, compared)
        by_pair = {frozenset((pair.first, pair.second)): pair.difference.p_value for pair in found.pairs}
        p_values[name] = [by_pair[frozenset(pair)] for pair in combinations(teams.teams, 2)]
    return p_values, [found.probabilities.get(1, 0.0) if found else 0.0 for found in distributions]


def loop(
    label: np.ndarray, likelihood: np.ndarray, cup: np.ndarray, disc: np.ndarray
) -> tuple[dict[str, list[float]], list[float]]:
    rng = np.random.default_rng(1)
    positives, negatives = np.flatnonzero(label), np.flatnonzero(~label)
    first = np.zeros(TEAMS)
    for _ in range(RESAMPLES):
        stratified = np.concatenate([rng.choice(group, group.size) for group in (positives, negatives)])
        drawn = rng.integers(0, CASES, CASES)
        table = pd.DataFrame(
            {
                "auc": [
                    roc_auc_score(label[stratified], likelihood[team, stratified]) for team in range(TEAMS)
                ],
                "cup": [cup[team, drawn].mean() for team in range(TEAMS)],
                "disc": [disc[team, drawn].mean() for team in range(TEAMS)],
            }
        )
        ranks = table.rank(ascending=False, method="min")
        score = 0.4 * ranks["auc"] + 0.35 * ranks["cup"] + 0.25 * ranks["disc"]
        first += (score.rank(method="min") == 1).to_numpy()
    pairs = list(combinations(range(TEAMS), 2))
    return {
        "classification.auc": [delong(label, likelihood[a], likelihood[b]) for a, b in pairs],
        "segmentation.dice_cup": [float(wilcoxon(cup[a], cup[b]).pvalue) for a, b in pairs],
        "segmentation.dice_disc": [float(wilcoxon(disc[a], disc[b]).pvalue) for a, b in pairs],
    }, (first / RESAMPLES).tolist()


def delong(label: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    components = []
    for score in (first, second):
        ranks = rankdata(score)
        positive_placements = (ranks[label] - rankdata(score[label])) / (~label).sum()
        negative_placements = 1 - (ranks[~label] - rankdata(score[~label])) / label.sum()
        components.append((positive_placements, negative_placements))
    (p1, n1), (p2, n2) = components
    variance = np.var(p1 - p2, ddof=1) / label.sum() + np.var(n1 - n2, ddof=1) / (~label).sum()
    return float(2 * norm.sf(abs(p1.mean() - p2.mean()) / np.sqrt(variance)))


def six_hundred(folder: Path, with_cases: bool) -> None:
    label, *_ = draw(3)
    rng = np.random.default_rng(3)
    for team in range(600):
        place = folder / f"T{team:03}"
        place.mkdir(parents=True)
        likelihood = (rng.normal(size=CASES) + label).tolist()
        dice = rng.uniform(0.6, 1, size=(3, CASES)).round(6).tolist()
        aggregates = {
            "classification": {"auc": {"value": float(rng.uniform())}},
            "segmentation": {
                name: {"value": float(rng.uniform())}
                for name in ("dice_cup", "dice_disc", "vertical_cup_to_disc_ratio_error")
            },
        }
        phase = {
            "challenge": "refuge",
            "name": "benchmark",
            "manifest": "m",
            "options": RefugeOptions().recorded(),
        }
        (place / "metrics.json").write_text(json.dumps({"phase": phase, "aggregates": aggregates}))
        if with_cases:
            cases = [
                {
                    "name": f"C{case:04}",
                    "table": {"name": f"C{case:04}"},
                    "tasks": {
                        "classification": {"likelihood": likelihood[case], "glaucoma": float(label[case])},
                        "segmentation": {
                            "dice_cup": dice[0][case],
                            "dice_disc": dice[1][case],
                            "vertical_cup_to_disc_ratio_error": dice[2][case],
                        },
                    },
                }
                for case in range(CASES)
            ]
            resampling = {"seed": 1, "resamples": RESAMPLES, "interval_minimum": 10}
            (place / "cases.json").write_text(
                json.dumps({"manifest": "m", "resampling": resampling, "cases": cases})
            )


def parse(paths: list[Path]) -> None:
    for path in paths:
        json.loads(path.read_bytes())


def rank_folder(folder: Path) -> None:
    results = read_results(folder)
    rank_phase(results, scheme_of(results.challenge, results.options), RankOptions())


def write_table(path: Path, teams: int, cases: int, metrics: int) -> None:
    rng = np.random.default_rng(4)
    quality = np.repeat(np.linspace(0.02, 0, teams), cases)
    values = np.clip(0.8 + quality + 0.08 * rng.normal(size=(metrics, teams * cases)), 0, 1).round(6)
    pd.DataFrame(
        {
            "team": np.repeat([f"T{team:03}" for team in range(teams)], cases),
            "case": np.tile([f"C{case:04}" for case in range(cases)], teams),
            **{f"m{metric}": column for metric, column in enumerate(values)},
        }
    ).to_csv(path, index=False)


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def whole_process(arguments: list[str]) -> tuple[float, float]:
    before, start = processor_seconds(), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "evaluation", "rank", *arguments], check=True, stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - start, processor_seconds() - before


def whole_processes(folder: Path) -> None:
    print("whole processes                                              wall     processor")
    for teams, cases, metrics in ((20, 400, 3), (200, 2000, 5)):
        table = folder / f"{teams}.csv"
        write_table(table, teams, cases, metrics)
        names = [option for i in range(metrics) for option in ("--metric", f"m{i}=higher")]
        wall, processor = whole_process([str(table), *names, "--output", str(folder / "out")])
        what = f"{teams} teams × {cases} cases × {metrics} metrics"
        print(f"  {what:52} {wall:8.2f} s {processor:8.2f} s")
    six_hundred(folder / "submissions", True)
    wall, processor = whole_process([str(folder / "submissions"), "--output", str(folder / "out")])
    print(f"  {'600 submissions × 400 cases':52} {wall:8.2f} s {processor:8.2f} s")


def justraigs(folder: Path) -> None:
    """Rank two teams with 9,741 eyes."""
    write_sample("justraigs", folder, "eyes-phase2", "--cases", "9741", "--stack", "500", "--name", "eyes")
    results = folder / "results"
    for team in ("good", "poor"):
        command = evaluate_command(folder, "eyes-phase2", f"eyes-phase2/{team}")
        place = ["--output", str(results / team), "--cases", str(results / team / "cases.json")]
        subprocess.run([*command, *place], check=True, stdout=subprocess.DEVNULL)
    wall, processor = whole_process([str(results), "--output", str(folder / "out")])
    print(f"  {'JustRAIGS, 2 teams × 9,741 eyes':52} {wall:8.2f} s {processor:8.2f} s")


def main() -> None:
    data = draw(2)
    ours(*data)  # warm up
    ours_seconds, (p_ours, first_ours) = min(
        (timed(lambda: ours(*data)) for _ in range(3)), key=lambda t: t[0]
    )
    loop_seconds, (p_loop, first_loop) = timed(lambda: loop(*data))
    for name in NAMES:
        np.testing.assert_allclose(np.array(p_ours[name], dtype=float), p_loop[name], rtol=1e-8)
    print(f"{TEAMS} teams × {CASES} cases × 3 metrics × {RESAMPLES} resamples, and all pairwise tests")
    print(f"  this package            {ours_seconds:8.3f} s")
    print(f"  pandas and SciPy loop   {loop_seconds:8.3f} s")
    print(f"  ratio                   {loop_seconds / ours_seconds:8.1f}")
    difference = np.abs(np.array(first_ours) - first_loop).max()
    print(f"  p-values equal to 1e-8; probabilities of first place within {difference:.3f}")
    for with_cases, what in ((False, "metrics.json alone"), (True, "with 400 cases each, 1000 resamples")):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            six_hundred(folder, with_cases)
            paths = sorted(folder.glob("*/*.json"))
            floor, _ = timed(partial(parse, paths))
            seconds, _ = timed(partial(rank_folder, folder))
            print(f"600 submissions, {what}: {seconds:.2f} s (parsing the files alone {floor:.2f} s)")
    with tempfile.TemporaryDirectory() as name:
        whole_processes(Path(name))
    with tempfile.TemporaryDirectory() as name:
        justraigs(Path(name))


if __name__ == "__main__":
    main()
