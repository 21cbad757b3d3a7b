"""Examples of mitotic figures on awkward images: counts of the platform's package, summed here."""

import numpy as np
import pytest
from grand_challenge_metrics.scorers import score_detection

from test.examples.awkward import row_of, scored_in_full, write_jobs, write_table
from test.oracles import checked

APART_MM = 2**-8  # exact in binary, so that ties are ties
TWO = [(0.5, 0.5), (0.5 + 2 * APART_MM, 0.5)]
BETWEEN, LEFT = (0.5 + APART_MM, 0.5), (0.5 - APART_MM, 0.5)
IMAGES = {
    # Mitotic figures, and what was found, x and y in mm.
    "empty": ([], []),
    "false": ([], [(0.2, 0.2), (0.3, 0.3)]),
    "missed": ([(0.1, 0.1), (0.5, 0.5)], [(0.1, 0.101)]),
    "nothing_found": ([(0.1, 0.1)], []),
    "split": ([(0.1, 0.1)], [(0.101, 0.1), (0.099, 0.1), (0.1, 0.1)]),
    "joined": ([(0.1, 0.1), (0.11, 0.1)], [(0.105, 0.1)]),
    "at_the_radius": ([(0.0, 0.0)], [(0.0075, 0.0)]),
    "beyond": ([(0.0, 0.0), (1.0, 1.0)], [(0.00750001, 0.0), (1.006, 1.006)]),
    # The first figure takes the nearest prediction, which the second one alone could have.
    "taken": ([(0.1, 0.1), (0.107, 0.1)], [(0.101, 0.1), (0.094, 0.1)]),
    "second_choice": ([(0.1, 0.1), (0.101, 0.1)], [(0.1005, 0.1), (0.106, 0.1)]),
    # Two predictions are as near to the first figure, and one of them to the second.
    "tie": (TWO, [BETWEEN, LEFT]),
    "tie_the_other_way": (TWO, [LEFT, BETWEEN]),
    "twice": ([(0.1, 0.1), (0.1, 0.1)], [(0.1, 0.1), (0.1, 0.1), (0.1, 0.1)]),
    "border": ([(0.0, 1.5)], [(0.0, 1.4999)]),
}
COUNTS = ("true_positives", "false_positives", "false_negatives")


def counts(true, found):
    """Return hits, false predictions and missed figures of an image."""
    true, found = ([(*place, 0) for place in side] for side in (true, found))
    scored = score_detection(ground_truth=true, predictions=found, radius=0.0075)
    return [getattr(scored, name) for name in COUNTS]


def figures(sums, added=0):
    """Return F1, precision and recall; added: what a program adds to F1 and to denominators."""
    hits, false, missed = sums
    return {
        "f1": (2 * hits + added) / (2 * hits + false + missed + added),
        "precision": hits / (hits + false + added),
        "recall": hits / (hits + missed + added),
    }


def write_points(path, places, **columns):
    rows = [{"case": name, "x": x, "y": y, **columns} for name, of in places.items() for x, y in of]
    write_table(path, rows)
    return rows


@checked(
    **dict.fromkeys(
        ["point_f1", "point_precision", "point_recall"], "grand_challenge_metrics.scorers.score_detection"
    )
)
@pytest.mark.parametrize("names", [tuple(IMAGES), ("nothing_found", "empty")])
def test_midog_2021(tmp_path, names):
    write_table(tmp_path / "phase" / "cases.csv", [{"name": name} for name in names])
    write_points(tmp_path / "phase" / "mitotic_figures.csv", {name: IMAGES[name][0] for name in names})
    outputs = {}
    for name in names:
        points = [{"point": [*place, 0]} for place in IMAGES[name][1]]
        content = {"type": "Multiple points", "points": points, "version": {"major": 1, "minor": 0}}
        outputs[f"{name}.tiff"] = {"mitotic-figures": content}
    write_jobs(tmp_path, "histopathology-region-of-interest-cropout", outputs)
    scored = scored_in_full(tmp_path, "midog2021")
    expected = {name: counts(*IMAGES[name]) for name in names}
    for case, found in scored.cases.items():
        assert [found[f"f1_{count}"] for count in COUNTS] == expected[case], case
    sums = np.sum(list(expected.values()), axis=0)
    if "false" in names:
        assert scored.figures == pytest.approx(figures(sums), abs=1e-9)
    else:  # the program divides by 0
        assert set(scored.figures.values()) == {0}


def test_midog_2025_counts_by_tumour(tmp_path):
    """A prediction of the other class is no mitotic figure, wherever it lies."""
    tumours = [f"tumour{number % 3}" for number in range(len(IMAGES))]
    rows = [{"name": name, "tumour": tumour} for name, tumour in zip(IMAGES, tumours, strict=True)]
    write_table(tmp_path / "phase" / "cases.csv", rows)
    true = {name: of for name, (of, _) in IMAGES.items()}
    write_points(tmp_path / "phase" / "mitoses.csv", true, **{"class": "mitotic figure"})
    found = tmp_path / "submission" / "predictions.csv"
    named = {"class": "non-mitotic figure", "probability": 0.9}
    others = write_points(found, true, **named)
    sure = write_points(
        found, {name: of for name, (_, of) in IMAGES.items()}, **named | {"class": "mitotic figure"}
    )
    for number, row in enumerate(sure):
        row["probability"] = number % 7 / 7  # which takes no part
    write_table(found, others + sure)
    scored = scored_in_full(tmp_path, "midog2025-detection").figures
    each = np.array([counts(*of) for of in IMAGES.values()])
    whole = figures(each.sum(axis=0))
    by_tumour = np.mean([figures(each[first::3].sum(axis=0))["f1"] for first in range(3)])
    expected = {f"{name}_mitotic_figure": of for name, of in (whole | {"by_tumour": by_tumour}).items()}
    assert {name: scored[name] for name in expected} == pytest.approx(expected, abs=1e-9)
    for name, there in figures(each.sum(axis=0), added=1e-6).items():
        assert f"{there:.8f} for {whole[name]:.8f}" in row_of("midog2025-detection")
