"""How often the 95 % intervals contain the true value: every kind of metric, by simulation.

    python -m benchmarks.coverage [--sets 1000] [--write docs/intervals.md]

Every set is a sample of cases from a population with a known true value. The intervals are the package's, by
the default method of the metric and, for comparison, by percentiles of the bootstrap. With ``--write``, the
table in the page is replaced.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, norm

from evaluation.core.aggregates import mean_of_means, ratio_of_sums
from evaluation.core.case_table import CaseTable
from evaluation.core.intervals import default_method, intervals
from evaluation.core.metric import (
    IntervalMethod,
    Metric,
    auc_of,
    f1_of_presence_of,
    mean_of,
    proportion_of,
    sensitivity_at_specificity_of,
    sum_of,
)
from evaluation.core.resampling import Resampling

Columns = Mapping[str, NDArray[np.float64]]
Draw = Callable[[np.random.Generator], Columns]
_RESAMPLES, _SEED, _MINIMUM = 1000, 20260101, 10
_WITHIN_PERSON = 0.7  # correlation of the two eyes of a person
_DICE = beta(34, 6)  # mean 0.85, standard deviation 0.056
_TABLE = re.compile(r"(?<=<!-- coverage -->\n).*?(?=<!-- /coverage -->)", re.DOTALL)


@dataclass(frozen=True)
class Scenario:
    """A population: metric, number of cases, true value, and how a sample is drawn."""

    metric: Metric
    what: str
    cases: str
    true: float
    clustered: bool
    draw: Draw


@dataclass(frozen=True)
class Coverage:
    """The share of intervals that contain the true value, and their median width."""

    method: IntervalMethod
    share: float
    width: float


def main() -> None:
    """Simulate, print the table, and write it into the page if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    arguments = parser.parse_args()
    lines = [
        f"{arguments.sets:,} sets each, {_RESAMPLES:,} resamples. "
        f"A coverage of 95 % is measured to ± {196 * math.sqrt(0.95 * 0.05 / arguments.sets):.1f} points.",
        "",
        "| metric | true value | cases | method | coverage, % | median width | percentile bootstrap, % |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for number, scenario in enumerate(scenarios()):
        rng = np.random.default_rng((_SEED, number))
        tables = [_table(scenario.draw(rng)) for _ in range(arguments.sets)]
        found = coverage(scenario, tables, default_method(scenario.metric, scenario.clustered))
        percentile = coverage(scenario, tables, "percentile")
        lines.append(
            f"| {scenario.metric.title} | {scenario.what} | {scenario.cases} | {found.method} "
            f"| {100 * found.share:.1f} | {found.width:.3g} | {100 * percentile.share:.1f} |"
        )
        print(lines[-1], flush=True)
    if arguments.write:
        page = arguments.write.read_text(encoding="utf-8")
        table = "\n".join(["", *lines, "", ""])
        arguments.write.write_text(_TABLE.sub(lambda _: table, page), encoding="utf-8")


def coverage(scenario: Scenario, tables: list[CaseTable], method: IntervalMethod) -> Coverage:
    """Return the coverage of one method over sampled tables."""
    clusters = None
    if scenario.clustered:
        clusters = {name: f"P{case // 2}" for case, name in enumerate(tables[0].names)}
    name = f"task.{scenario.metric.name}"
    resampling = Resampling(0, _RESAMPLES, _MINIMUM, clusters=clusters, methods={name: method})
    found = [one.interval for one in intervals({name: scenario.metric}, tables, resampling).found[name]]
    # Of a value at the edge of rounding, either answer would be noise.
    slack = 1e-9 * max(1.0, abs(scenario.true))
    inside = [one.lower - slack <= scenario.true <= one.upper + slack for one in found]
    return Coverage(method, float(np.mean(inside)), float(np.median([2 * one.half_width for one in found])))


def scenarios() -> Iterator[Scenario]:
    """Yield the populations, metric by metric."""
    sizes = ((40, 12), (400, 40))
    for cases, positives in (*sizes, (400, 12)):
        for true in (0.8, 0.95):
            yield _area(cases, positives, true, clustered=False)
    for cases, positives in ((40, 20), (400, 40)):
        yield _area(cases, positives, 0.95, clustered=True)
    for cases, positives in sizes:
        for true in (0.56, 0.9, 0.97):
            yield _sensitivity(cases, positives, true, clustered=False)
    for cases, positives in ((40, 20), (400, 40)):
        yield _sensitivity(cases, positives, 0.9, clustered=True)
    for cases in (40, 400):
        for failures in (0.0, 0.01, 0.05):
            yield _dice(cases, failures, clustered=False)
        yield _dice(cases, 0.01, clustered=True)
        yield _distance(cases)
        for true in (0.5, 0.95):
            yield _share(cases, true, clustered=False)
        yield _share(cases, 0.95, clustered=True)
        for prevalence in (0.5, 0.1):
            yield _presence(cases, prevalence)
        yield _false_objects(cases)
    # Further ones at the end: a scenario's number is its seed.
    for cases in (40, 400):
        yield _means_of_labels(cases)
        yield _pooled_share(cases)


def _normal(rng: np.random.Generator, cases: int, clustered: bool) -> NDArray[np.float64]:
    """Return standard normal numbers, correlated between the two cases of a cluster."""
    alone = rng.normal(size=cases)
    if not clustered:
        return alone
    shared = np.repeat(rng.normal(size=cases // 2), 2)
    return math.sqrt(_WITHIN_PERSON) * shared + math.sqrt(1 - _WITHIN_PERSON) * alone


def _number(cases: int, clustered: bool, more: str = "") -> str:
    return f"{cases} ({cases // 2} persons){more}" if clustered else f"{cases}{more}"


def _area(cases: int, positives: int, true: float, clustered: bool) -> Scenario:
    label = (np.arange(cases) < positives).astype(float)
    distance = math.sqrt(2) * float(norm.ppf(true))
    return Scenario(
        Metric("auc", "AUC", auc_of("score", "label"), 1, 0),
        f"{true}",
        _number(cases, clustered, f", {positives} positive"),
        true,
        clustered,
        lambda rng: {"label": label, "score": _normal(rng, cases, clustered) + distance * label},
    )


def _sensitivity(cases: int, positives: int, true: float, clustered: bool) -> Scenario:
    label = (np.arange(cases) < positives).astype(float)
    distance = float(norm.ppf(0.85) + norm.ppf(true))
    aggregate = sensitivity_at_specificity_of("score", "label", Fraction(85, 100))
    return Scenario(
        Metric("sensitivity", "sensitivity at 85 % specificity", aggregate, 1, 0),
        f"{true}",
        _number(cases, clustered, f", {positives} positive"),
        true,
        clustered,
        lambda rng: {"label": label, "score": _normal(rng, cases, clustered) + distance * label},
    )


def _dice(cases: int, failures: float, clustered: bool) -> Scenario:
    def draw(rng: np.random.Generator) -> Columns:
        values = _DICE.ppf(norm.cdf(_normal(rng, cases, clustered)))
        failed = rng.random(cases // 2 if clustered else cases) < failures
        return {"value": np.where(np.repeat(failed, 2) if clustered else failed, 0.0, values)}

    said = f", {100 * failures:g} % failures" if failures else ""
    return Scenario(
        Metric("dice", "mean Dice", mean_of("value"), 1, 0),
        f"{(1 - failures) * 0.85:.4g}{said}",
        _number(cases, clustered),
        (1 - failures) * 0.85,
        clustered,
        draw,
    )


def _distance(cases: int) -> Scenario:
    return Scenario(
        Metric("distance", "mean distance", mean_of("value"), 0, math.inf),
        "1.65, log-normal",
        _number(cases, clustered=False),
        math.exp(0.5),
        clustered=False,
        draw=lambda rng: {"value": np.exp(rng.normal(size=cases))},
    )


def _share(cases: int, true: float, clustered: bool) -> Scenario:
    limit = float(norm.ppf(true))
    return Scenario(
        Metric("share", "share of cases", proportion_of("value"), 1, 0),
        f"{true}",
        _number(cases, clustered),
        true,
        clustered,
        lambda rng: {"value": (_normal(rng, cases, clustered) < limit).astype(float)},
    )


def _presence(cases: int, prevalence: float) -> Scenario:
    sensitivity, specificity = 0.9, 0.95

    def draw(rng: np.random.Generator) -> Columns:
        present = rng.random(cases) < prevalence
        chance = np.where(present, sensitivity, 1 - specificity)
        return {"present": present.astype(float), "predicted": (rng.random(cases) < chance).astype(float)}

    hits = prevalence * sensitivity
    true = 2 * hits / (hits + (1 - prevalence) * (1 - specificity) + prevalence)
    return Scenario(
        Metric("f1", "F1 of presence", f1_of_presence_of("predicted", "present"), 1, 0),
        f"{true:.3g}, {100 * prevalence:g} % present",
        _number(cases, clustered=False),
        true,
        clustered=False,
        draw=draw,
    )


def _false_objects(cases: int) -> Scenario:
    return Scenario(
        Metric("false", "sum of false objects", sum_of("value"), 0, math.inf),
        f"{cases // 2}",
        _number(cases, clustered=False),
        cases / 2,
        clustered=False,
        # Half an object a case on average, in few cases many.
        draw=lambda rng: {"value": rng.poisson(rng.gamma(0.5, 1, cases)).astype(float)},
    )


def _means_of_labels(cases: int) -> Scenario:
    """Two labels, of which a case may lack the second; the mean of the two labels' mean Dice."""

    def draw(rng: np.random.Generator) -> Columns:
        first, second = _DICE.rvs(cases, random_state=rng), _DICE.rvs(cases, random_state=rng)
        return {"first": first, "second": np.where(rng.random(cases) < 0.7, np.nan, second)}

    return Scenario(
        Metric("dice", "mean of labels' mean Dice", mean_of_means(["first", "second"], True), 1, 0),
        "0.85, a label in 30 %",
        _number(cases, clustered=False),
        0.85,
        clustered=False,
        draw=draw,
    )


def _pooled_share(cases: int) -> Scenario:
    """Lesions of all cases: in few cases many, of which each case has its own share of found ones."""

    def draw(rng: np.random.Generator) -> Columns:
        lesions = rng.poisson(rng.gamma(1, 3, cases))
        found = rng.binomial(lesions, rng.beta(8, 2, cases))
        return {"number": found.astype(float), "of": lesions.astype(float)}

    return Scenario(
        Metric("detected", "pooled share of lesions", ratio_of_sums("number", "of"), 1, 0),
        "0.8, 3 a case",
        _number(cases, clustered=False),
        0.8,
        clustered=False,
        draw=draw,
    )


def _table(columns: Columns) -> CaseTable:
    cases = len(next(iter(columns.values())))
    rows = [
        dict(zip(columns, row, strict=True))
        for row in zip(*(c.tolist() for c in columns.values()), strict=True)
    ]
    return CaseTable([f"C{case:04}" for case in range(cases)], rows)


if __name__ == "__main__":
    main()
