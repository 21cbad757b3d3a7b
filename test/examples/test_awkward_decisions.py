"""Examples of likelihoods and decisions on awkward cases, with the calls of their public programs."""

import numpy as np
import pytest
from sklearn import metrics

from test.examples.awkward import row_of, scored_in_full, write_jobs, write_table

RANDOM = np.random.default_rng(5)
EYES = 41
CLASSES = np.array(["NRG"] * 20 + ["RG"] * 13 + ["U"] * 8)
SPLIT = np.where(CLASSES == "RG", 0.8, 0.3)
ONE_ABOVE = np.where(np.arange(EYES) == 3, 0.9, SPLIT)  # a specificity of exactly 95 %
TWO_ABOVE = np.where(np.isin(np.arange(EYES), [3, 4]), 0.9, SPLIT)
UNGRADABLE = CLASSES == "U"
# Classes, likelihoods of glaucoma, scores of ungradability and decisions that an eye is ungradable.
SETS = {
    "ties": (
        CLASSES,
        RANDOM.random(EYES).round(1),
        RANDOM.integers(-3, 4, EYES) * 1.0,
        RANDOM.random(EYES) < 0.3,
    ),
    "perfect": (CLASSES, SPLIT, UNGRADABLE * 1.0, UNGRADABLE),
    "reversed": (CLASSES, 1 - SPLIT, -1e300 * UNGRADABLE, ~UNGRADABLE),
    "at_the_specificity": (CLASSES, ONE_ABOVE, UNGRADABLE * 1e-300, np.zeros(EYES, bool)),
    "below_the_specificity": (CLASSES, TWO_ABOVE, np.zeros(EYES), np.ones(EYES, bool)),
    "one_referable": (
        np.where(np.arange(EYES) == 7, "RG", np.where(UNGRADABLE, "U", "NRG")),
        RANDOM.random(EYES),
        RANDOM.normal(0, 1, EYES),
        RANDOM.random(EYES) < 0.5,
    ),
    "equal": (CLASSES, np.full(EYES, 0.5), np.full(EYES, -7.0), UNGRADABLE),
}


@pytest.mark.parametrize("name", SETS)
def test_airogs(tmp_path, name):
    """Of two stacks, one of a single eye; the table has the eyes in another order."""
    classes, likelihood, score, ungradable = SETS[name]
    places = [("stack_0.tiff", number) for number in range(EYES - 1)] + [("stack_1.tiff", 0)]
    rows = [
        {"name": f"eye{number}", "stack_name": place[0], "stack_index": place[1], "class": of}
        for number, (place, of) in enumerate(zip(places, classes, strict=True))
    ]
    write_table(tmp_path / "phase" / "cases.csv", rows[::-1])
    values = {
        "glaucoma-likelihoods": likelihood,
        "glaucoma-binary-decisions": likelihood >= 0.5,
        "ungradability-scores": score,
        "ungradability-binary-decisions": ungradable,
    }
    outputs = {
        stack: {f"multiple-referable-{slug}": of[part].tolist() for slug, of in values.items()}
        for stack, part in (("stack_0.tiff", slice(-1)), ("stack_1.tiff", slice(-1, None)))
    }
    write_jobs(tmp_path, "stacked-color-fundus-images", outputs)
    found = scored_in_full(tmp_path, "airogs").figures
    gradable = classes != "U"
    referable, likelihood = classes[gradable] == "RG", likelihood[gradable]
    rates, sensitivities, _ = metrics.roc_curve(referable, likelihood, drop_intermediate=False)
    expected = {
        "alpha": metrics.roc_auc_score(referable, likelihood, max_fpr=1 - 0.9),
        "beta": sensitivities[1 - rates >= 0.95 - np.finfo(float).eps][-1],
        "referral_accuracy": np.mean((likelihood >= 0.5) == referable),
        "gamma": metrics.cohen_kappa_score(~gradable, ungradable),
        "delta": metrics.roc_auc_score(~gradable, score),
    }
    assert found == pytest.approx(expected, abs=1e-9)


def named(atypical, confidence):
    """Return the program's outputs: the class, and the confidence in it."""
    return np.where(atypical, "atypical", "normal"), np.asarray(confidence)


CELLS = RANDOM.random(40) < 0.3
# The true figures that are atypical, and the outputs.
ANSWERS = {
    "ties": (CELLS, named(RANDOM.random(40) < 0.5, RANDOM.integers(6, 11, 40) / 10)),
    "at_one_half": (CELLS, named(np.ones(40, bool), np.full(40, 0.5))),
    "perfect": (CELLS, named(CELLS, np.ones(40))),
    "reversed": (CELLS, named(~CELLS, np.full(40, 0.75))),
    "all_normal": (CELLS, named(np.zeros(40, bool), RANDOM.random(40) / 4 + 0.75)),
    "one_atypical": (np.arange(40) == 7, named(np.arange(40) < 9, RANDOM.random(40) / 2 + 0.5)),
    "against_its_class": ([1, 1, 0, 0, 0], named([1, 0, 0, 0, 0], [0.9, 0.5, 0.9, 0.4, 0.8])),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_midog_2025_of_the_classes_that_were_named(tmp_path, name):
    true, (classes, confidence) = ANSWERS[name]
    numbers = np.where(classes == "atypical", confidence, 1 - confidence)
    words = [("normal", "atypical")[int(of)] for of in true]
    cases = [{"name": f"cell{number}", "class": word} for number, word in enumerate(words)]
    write_table(tmp_path / "phase" / "cases.csv", cases)
    rows = [{"case": f"cell{number}", "atypical": of} for number, of in enumerate(numbers.tolist())]
    write_table(tmp_path / "submission" / "predictions.csv", rows[::-1])
    found = scored_in_full(tmp_path, "midog2025-classification").figures
    rates = [np.mean((classes == word)[np.array(words) == word]) for word in ("atypical", "normal")]
    expected = {"auc": metrics.roc_auc_score(true, numbers), "sensitivity": rates[0], "specificity": rates[1]}
    expected["balanced_accuracy"] = sum(rates) / 2
    if name == "against_its_class":
        for figure in ("sensitivity", "specificity", "balanced_accuracy"):
            there, here = f"{expected.pop(figure):.4f}", f"{found[figure]:.4f}"
            assert f"{figure.replace('_', ' ')} {there} for {here}" in row_of("midog2025-classification")
    assert {figure: found[figure] for figure in expected} == pytest.approx(expected, abs=1e-9)
