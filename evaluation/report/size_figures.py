"""Figures from masks and points: sizes, their agreement, and errors of landmarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evaluation.charts.bland_altman import Pair, bland_altman_chart
from evaluation.charts.chart import Chart
from evaluation.charts.error_cloud import PointError, error_cloud_chart
from evaluation.charts.scatter import Axis, CasePoint, scatter_chart
from evaluation.core.challenge import fields_of
from evaluation.report.case_images import CaseValues
from evaluation.report.page import Figure, Section, identifier
from evaluation.report.regions import Size
from evaluation.report.results import SubmissionResults

_MOST_STRUCTURES = 6
_FEWEST = 3


def sizes_section(results: SubmissionResults, values: Sequence[CaseValues]) -> Section | None:
    """Return the section of sizes and positions, None where no case has any."""
    charts = [*_agreement(values), *_dice_by_size(values), *_clouds(results, values)]
    return Section("sizes", "Sizes and positions", tuple(map(Figure, charts))) if charts else None


def _agreement(values: Sequence[CaseValues]) -> Iterator[Chart]:
    """Yield Bland–Altman plots of the sizes and ratios of each structure in the reference."""
    for (structure, unit), found in list(_by_structure(values).items())[:_MOST_STRUCTURES]:
        pairs = [Pair(case, size.predicted, size.reference) for case, size in found if size.reference]
        if len(pairs) >= _FEWEST:
            yield bland_altman_chart(
                identifier(f"{structure}-agreement"), f"Bland–Altman. Size of {structure}", pairs, unit
            )
    ratios = [(value.name, ratio) for value in values for ratio in value.ratios]
    for title in dict.fromkeys(ratio.title for _, ratio in ratios):
        pairs = [
            Pair(case, ratio.predicted, ratio.reference) for case, ratio in ratios if ratio.title == title
        ]
        if len(pairs) >= _FEWEST:
            yield bland_altman_chart(identifier(f"{title}-agreement"), f"Bland–Altman. {title}", pairs, "")


def _dice_by_size(values: Sequence[CaseValues]) -> Iterator[Chart]:
    """Yield one plot of Dice against the size of the reference for each unit."""
    found = _by_structure(values)
    for unit in dict.fromkeys(unit for _, unit in found):
        points = [
            CasePoint(case, size.reference, size.dice, structure)
            for (structure, of_unit), sizes in found.items()
            if of_unit == unit
            for case, size in sizes
            if size.reference
        ]
        if len(points) >= _FEWEST:
            yield scatter_chart(
                identifier(f"dice-by-size-{unit}"),
                "Dice against size",
                "Overlap of each structure in each case against its size in the reference.",
                points,
                Axis(f"size in the reference, {unit}", logarithmic=True),
                Axis("Dice", (0, 1)),
            )


def _clouds(results: SubmissionResults, values: Sequence[CaseValues]) -> Iterator[Chart]:
    titles = {field.name: field.title for field in fields_of(results.tasks)}
    for name in dict.fromkeys(name for value in values for name in value.locations):
        errors = [
            PointError(value.name, at.predicted[0] - at.reference[0], at.predicted[1] - at.reference[1])
            for value in values
            if (at := value.locations.get(name))
        ]
        if len(errors) >= _FEWEST:
            yield error_cloud_chart(f"{identifier(name)}-errors", f"Errors. {titles[name]}", errors)


def _by_structure(values: Sequence[CaseValues]) -> dict[tuple[str, str], list[tuple[str, Size]]]:
    """Return the sizes of each structure with the names of their cases."""
    found: dict[tuple[str, str], list[tuple[str, Size]]] = {}
    for value in values:
        for size in value.sizes:
            found.setdefault((size.structure, size.unit), []).append((value.name, size))
    return found
