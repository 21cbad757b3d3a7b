"""Examples of a number for each case: their published formulas on awkward numbers, computed from the rows."""

import shutil

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score

from test.examples.awkward import scored_in_full, write_table
from test.examples.samples import EXAMPLES


def scored(folder, example, references, predictions):
    """Score numbers; references and predictions: the name of the column, and its cells."""
    for path, key, (column, cells) in (
        ("phase/cases.csv", "name", references),
        ("submission/predictions.csv", "case", predictions),
    ):
        rows = [{key: f"c{number:02d}", column: cell} for number, cell in enumerate(cells)]
        write_table(folder / path, rows)
    shutil.copy(EXAMPLES / example / "metrics.py", folder / "phase")
    return scored_in_full(folder, example)


LIKELIHOODS = {
    # Ten neoplastic images, then ten others.
    "exactly_nine": [0.9, 0.8, 0.8, 0.7, 0.7, 0.7, 0.6, 0.6, 0.5, 0.1] + [0.95, 0.5, 0.5, 0.45] + [0.2] * 6,
    "tie": [0.5] * 10 + [0.5] * 4 + [0.4] * 6,
    "equal": [0.5] * 20,
    "perfect": [1] * 10 + [0] * 10,
    "reversed": [0] * 10 + [1] * 10,
    "one_apart": [0.9] * 8 + [0.3, 0.2] + [0.25] * 10,
}


@pytest.mark.parametrize("name", LIKELIHOODS)
@pytest.mark.parametrize("neoplastic", [10, 7, 1])
def test_likelihoods_of_rare(name, neoplastic, tmp_path):
    """With ten neoplastic images a recall is exactly 90 %; else it lies between two thresholds."""
    found = LIKELIHOODS[name][10 - neoplastic :]
    true = [1] * neoplastic + [0] * 10
    classes = ["neo" if one else "ndbe" for one in true]
    figures = scored(tmp_path, "rare25", ("class", classes), ("likelihood", found)).figures
    precision, recall, _ = precision_recall_curve(true, found)
    assert figures == pytest.approx(
        {
            "ppv_at_recall": np.interp(0.9, recall[::-1], precision[::-1]),
            "auc": roc_auc_score(true, found),
            "average_precision": average_precision_score(true, found),
        },
        abs=1e-9,
    )


QUALITIES = {
    "ties": [0, 0.4, 0.4, 1, 1, 2.6, 3, 2.2, 2.2, 4, 3.8, 4],
    "reversed": [4, 3.8, 3.6, 3, 3, 3, 2, 2.2, 1.4, 0.2, 0.2, 0],
    "constant": [2] * 12,
    "two": [0] * 6 + [4] * 6,
}


@pytest.mark.parametrize("name", QUALITIES)
def test_qualities_of_ldct(name, tmp_path):
    true = np.array([0, 0.2, 0.6, 0.6, 1, 2, 2, 2.4, 3, 3.8, 4, 4])
    found = np.array(QUALITIES[name], float)
    result = scored(tmp_path, "ldct-iqa", ("quality", true), ("quality", found))

    def of_deviations(one, other):
        return (one * other).sum() / (np.sqrt((one**2).sum() * (other**2).sum()) or 1)  # NaN there

    def correlation(values):
        return of_deviations(*(of - of.mean() for of in map(values, (true, found))))

    expected = {
        "pearson_correlation": correlation(np.asarray),
        "spearman_correlation": correlation(rankdata),
        "kendall_tau": of_deviations(*(np.sign(np.subtract.outer(of, of)) for of in (true, found))),
    }
    assert result.figures == pytest.approx(expected, abs=1e-9)
    # The challenge adds absolute values: 2.8489 where the order is reversed.
    total = sum(expected.values())
    assert result.result["ranking"]["composites"]["sum"]["value"] == pytest.approx(total, abs=1e-9)
