"""The public names of the package of metrics: all there, all described, none loaded before it is used."""

import math
import pickle
import re
import subprocess
import sys

import pytest

from evaluation import metrics
from test.repository import REPOSITORY

SECTIONS = ("Parameters", "Returns", "Notes", "References", "Examples")


def sections_of(name):
    return re.findall(r"^ +(\w+)\n +-+$", getattr(metrics, name).__doc__, re.MULTILINE)


@pytest.mark.parametrize("name", metrics.__all__)
def test_every_public_function_is_described_with_an_example(name):
    text = getattr(metrics, name).__doc__
    shared = {
        section: other
        for sections, other in re.findall(r"([A-Z][\w, ]*): as for `(\w+)`\.", " ".join(text.split()))
        for section in re.findall(r"[A-Z]\w+", sections)
    }
    assert sections_of(name) == [section for section in SECTIONS if section not in shared]
    assert all(section in sections_of(other) for section, other in shared.items())
    assert f">>> {name}(" in text or f"{name}(" in text.partition("Examples")[2]
    assert text.partition("\n")[0].endswith(".")


def test_names_are_listed_once_and_in_order():
    assert sorted(set(metrics.__all__)) == metrics.__all__
    assert set(metrics.__all__) <= set(dir(metrics))


def test_an_undefined_value_says_why():
    with pytest.warns(UserWarning, match=r"^auc is undefined for these values\. .*(NaN|undefined)") as warned:
        assert math.isnan(metrics.auc([0.1, 0.2], [1, 1]))
    assert warned[0].filename == __file__
    assert pickle.loads(pickle.dumps(metrics.auc)) is metrics.auc


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
