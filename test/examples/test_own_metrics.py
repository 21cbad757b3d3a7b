"""Examples with metrics of their own, against independent computations."""

import csv

import numpy as np
import pytest
from scipy import ndimage
from scipy.stats import rankdata
from sklearn.metrics import precision_recall_curve

from test.examples.instances import ious
from test.examples.samples import EXAMPLES, scored_sample
from test.examples.test_segmentation import pairs

OWN = sorted(path.parent.name for path in EXAMPLES.glob("*/metrics.py"))


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def panther(folder):
    errors = [(found.sum(dtype=int) - true.sum(dtype=int)) * np.prod(of) for true, found, of in pairs(folder)]
    return {"tumour_burden": np.sqrt(np.mean(np.square(errors))) / 1000}


def pinkcc(folder):
    values = {1: [], 2: []}
    diamond = ndimage.iterate_structure(ndimage.generate_binary_structure(3, 1), 2)
    for true, found, _ in pairs(folder):
        for label, of_label in values.items():
            one, other = (
                ndimage.convolve((of == label) * 1.0, diamond, mode="constant") > 0 for of in (true, found)
            )
            of_label.append(
                2 * (one & other).sum() / (one.sum() + other.sum()) if (true == label).any() else np.nan
            )
    table = np.array(list(values.values()))
    primary, metastasis = np.nanmean(table, axis=1)
    return {
        "dilated_dice": np.nanmean(table, axis=0).mean(),
        "dilated_dice_primary": primary,
        "dilated_dice_metastasis": metastasis,
    }


def sts(folder):
    figures = []
    for true, found, _ in pairs(folder):
        table, total = ious(true, found), 0.0
        teeth = len(table)
        while table.size and table.max() >= 0.5:
            total += table.max()
            one, other = np.unravel_index(table.argmax(), table.shape)
            table = np.delete(np.delete(table, one, axis=0), other, axis=1)
        figures.append(total / teeth)
    return {"instance_iou": np.mean(figures)}


def columns(folder, reference, found):
    true = {row["name"]: row[reference] for row in rows_of(folder / "phase" / "cases.csv")}
    rows = rows_of(folder / "submission" / "predictions.csv")
    return [true[row["case"]] for row in rows], np.array([float(row[found]) for row in rows])


def rare25(folder):
    classes, likelihoods = columns(folder, "class", "likelihood")
    precision, recall, _ = precision_recall_curve(np.array(classes) == "neo", likelihoods)
    return {"ppv_at_recall": precision[recall >= 0.9][-1]}


def ldct_iqa(folder):
    texts, found = columns(folder, "quality", "quality")
    one, other = (np.sign(np.subtract.outer(of, of)) for of in (np.array(texts, float), found))
    tau = (one * other).sum() / np.sqrt((one**2).sum() * (other**2).sum())
    true = np.array(texts, float)
    correlations = [np.corrcoef(true, found)[0, 1], np.corrcoef(rankdata(true), rankdata(found))[0, 1]]
    return {
        "kendall_tau": tau,
        "pearson_correlation": correlations[0],
        "spearman_correlation": correlations[1],
    }


EXPECTED = {"ldct-iqa": ldct_iqa, "panther": panther, "pinkcc": pinkcc, "rare25": rare25, "sts": sts}


@pytest.mark.parametrize("name", OWN)
def test_the_figures_are_those_of_an_independent_computation(name, tmp_path):
    folder, figures, result = scored_sample(tmp_path, name)
    found = {key.partition(".")[2]: value for key, value in figures.items()}
    expected = EXPECTED[name](folder)
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=5e-5)
    assert all(0.05 < abs(value) != 1 for value in expected.values())
    if name == "ldct-iqa":
        composite = result["ranking"]["composites"]["sum"]["value"]
        assert composite == pytest.approx(sum(expected.values()), abs=2e-4)


@pytest.mark.parametrize("name", OWN)
def test_an_organiser_writes_at_most_60_lines(name):
    texts = [(EXAMPLES / name / file).read_text() for file in ("phase.toml", "metrics.py", "sample.py")]
    assert sum(len(text.splitlines()) for text in texts) <= 60
