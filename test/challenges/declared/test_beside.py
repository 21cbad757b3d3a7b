"""Metrics that are declared beside each other share what they compute: each is what it is alone."""

from collections import defaultdict
from typing import Literal, get_args, get_origin

import numpy as np
import pytest

from evaluation.challenges.declared.declarable import FIELDS, METRICS, name_of
from evaluation.challenges.declared.tables import FieldComparison
from evaluation.core.case_table import CaseTable, WeightedCases
from test.catalogue import OPTIONS, measures_of
from test.challenges.declared.test_entering import submitted_of, values_of

CASES = {"image": 2, "label_map": 3, "displacement_field": 3}
"""Of a kind, by default 10: similarities of images and distances of surfaces take long."""
FURTHER = {"clip": [0.2, 0.4], "costs": [[0, 1], [3, 0]]}
"""Another value of options that are no numbers or choices."""


def variants(table):
    """Yield no option, and one other value of each option by itself, whether or not it fits."""
    yield {}
    for name, of in table.model_fields.items():
        given = OPTIONS.get(name_of(table), {}).get(name, of.default)
        if name in FURTHER:
            yield {name: FURTHER[name]}
        elif isinstance(given, bool):
            yield {name: not given}
        elif isinstance(given, int | float):
            yield from ({name: given * 1.5}, {name: given + 1}, {name: given / 2})
        elif get_origin(of.annotation) is Literal:
            yield from ({name: choice} for choice in get_args(of.annotation) if choice != given)


def measures_by_field(kind):
    """Return the measures that a field of a kind may have, each under a name of its own, by its keys."""
    found, fields = defaultdict(list), {}
    for table in METRICS:
        for number, options in enumerate(variants(table)):
            for field, measure in measures_of(table, f"{name_of(table)}_{number}", **options):
                if field.kind == kind:
                    keys = field.model_dump_json()
                    fields[keys] = field
                    found[keys].append(measure)
    return [(fields[keys], measures) for keys, measures in found.items()]


def figures_of(measures, rows):
    """Return the figures of measures by name, of cases whose rows hold all of their columns."""
    cases = WeightedCases(CaseTable([f"C{case}" for case in range(len(rows))], rows), np.ones((1, len(rows))))
    return {
        metric.name: float(metric.estimator.values(cases)[0])
        for measure in measures
        for metric in measure.metrics
    }


@pytest.mark.parametrize("kind", list(map(name_of, FIELDS)))
def test_a_figure_is_the_same_beside_all_others_of_its_field_as_alone(kind):
    rng = np.random.default_rng(11)
    for field, measures in measures_by_field(kind):
        references, predictions = values_of(field)
        pairs = [
            (references[rng.integers(len(references))], predictions[rng.integers(len(predictions))])
            for _ in range(CASES.get(kind, 10))
        ]

        def compared():
            return [
                FieldComparison("field", value, reference, submitted_of(field, value))  # noqa: B023
                for reference, value in pairs  # noqa: B023
            ]

        alone = {}
        for measure in measures:
            alone |= figures_of([measure], [measure.row(one) for one in compared()])
        for order in (measures, measures[::-1]):
            rows = []
            for comparison in compared():
                row = {}
                for measure in order:
                    row |= measure.row(comparison)
                rows.append(row)
            assert figures_of(order, rows) == pytest.approx(alone, rel=1e-12, nan_ok=True)
