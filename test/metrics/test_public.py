"""The public names of the package of metrics: all there, all described, none loaded before it is used."""

import ast
import doctest
import inspect
import math
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

from evaluation import metrics
from test.repository import REPOSITORY

POINTERS = re.compile(r"\bas\s+of\s+`(\w+)`")


@pytest.mark.parametrize("name", metrics.__all__)
def test_every_public_function_is_described_with_an_example(name):
    text = getattr(metrics, name).__doc__
    assert text.partition("\n")[0].endswith(".")
    assert "Source: " in text
    assert f"{name}(" in text.partition(">>>")[2]
    others = POINTERS.findall(text)
    assert set(others) <= set(metrics.__all__)
    described = " ".join([text, *(getattr(metrics, other).__doc__ for other in chain(others))])
    missing = [key for key in inspect.signature(getattr(metrics, name)).parameters if key not in described]
    assert missing == []


def chain(names):
    """Yield functions, and those to which their descriptions point."""
    for name in names:
        yield name
        yield from chain(set(POINTERS.findall(getattr(metrics, name).__doc__)) - {name})


def test_names_are_listed_once_and_in_order():
    assert sorted(set(metrics.__all__)) == metrics.__all__
    assert set(metrics.__all__) <= set(dir(metrics))


def test_an_undefined_value_says_why():
    why = "auc is undefined for these values: NaN if there is no positive or no negative case"
    with pytest.warns(UserWarning, match=why) as warned:
        assert math.isnan(metrics.auc([0.1, 0.2], [1, 1]))
    assert warned[0].filename == __file__
    # The reason may stand at another function.
    with pytest.warns(UserWarning, match="NaN if all true values are equal or fewer"):
        assert math.isnan(metrics.spearman_correlation([1, 2], [1, 1]))
    assert pickle.loads(pickle.dumps(metrics.auc)) is metrics.auc


MISSING_COUNTS_AS_WORST = {"concordance_index": 0.2, "success_detection_rate": 0.0, "hamming_distance": 2 / 3}
OF_PREDICTIONS = ("predicted", "predicted_time", "scores", "probabilities", "prediction", "points", "boxes")

# Labels of any type, of which None is one without a result.
OF_LABELS = {"accuracy", "balanced_accuracy", "confusion_matrix", "fleiss_kappa", "macro_f1", "weighted_f1"}


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("name", [name for name in metrics.__all__ if name not in OF_LABELS])
def test_a_missing_prediction_is_refused_or_counts_as_the_worst(name, position):
    """The first number of the predictions of each example becomes NaN."""
    function = getattr(metrics, name)
    argument = [*inspect.signature(function).parameters][position]
    if argument not in (*OF_PREDICTIONS, "confidences"):
        return
    space = {**vars(metrics), "np": np}
    for example in doctest.DocTestParser().get_examples(function.__doc__):
        calls = [
            node
            for node in ast.walk(ast.parse(example.source))
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name
        ]
        if not calls:
            exec(example.source, space)
            continue
        call = calls[0]
        given = [eval(ast.unparse(node), space) for node in call.args]
        options = {node.arg: eval(ast.unparse(node.value), space) for node in call.keywords}
        values = np.array(given[position], dtype=float)
        values.flat[0] = math.nan
        given[position] = values
        if name in MISSING_COUNTS_AS_WORST:
            assert function(*given, **options) == pytest.approx(MISSING_COUNTS_AS_WORST[name])
        elif name == "matthews_correlation":  # a case without a decision is wrong
            assert function(*given, **options) < 0
        else:
            with pytest.raises(ValueError, match=r"expected|cannot convert"):
                function(*given, **options)
        return


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'evaluation\.metrics' has no attribute 'diec'"):
        _ = metrics.diec


def test_nothing_is_loaded_before_it_is_used():
    program = "import sys, evaluation.metrics; print([n for n in sys.modules if 'evaluation.' in n])"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == "['evaluation.metrics']"
