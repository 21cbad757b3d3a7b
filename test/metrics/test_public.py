"""The public names of the package of metrics: all there, all described, none loaded before it is used."""

import re
import subprocess
import sys

import pytest

from evaluation import metrics
from test.repository import REPOSITORY

SECTIONS = ("Parameters", "Returns", "Notes", "References", "Examples")


@pytest.mark.parametrize("name", metrics.__all__)
def test_every_public_function_is_described_with_an_example(name):
    text = getattr(metrics, name).__doc__
    headings = re.findall(r"^ +(\w+)\n +-+$", text, re.MULTILINE)
    assert [heading for heading in headings if heading != "Raises"] == list(SECTIONS)
    assert f">>> {name}(" in text or f"{name}(" in text.partition("Examples")[2]
    assert text.partition("\n")[0].endswith(".")


def test_names_are_listed_once_and_in_order():
    assert sorted(set(metrics.__all__)) == metrics.__all__
    assert set(metrics.__all__) <= set(dir(metrics))


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
