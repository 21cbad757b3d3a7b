"""Every kind of message in its exact words; `test.hostile` holds the command itself to those of its own."""

import re

import pytest

from evaluation.core.fault import FaultKind

from . import table
from .faults import FAULTS, OTHERS
from .lines import line_of

TABLE = table()


@pytest.mark.parametrize(
    ("phase", "name"), [(phase, name) for phase, faults in OTHERS.items() for name in faults]
)
def test_words(phase, name, tmp_path):
    assert line_of(phase, OTHERS[phase][name], tmp_path) == TABLE[phase][name]


def test_the_table_holds_the_faults_that_there_are():
    assert {phase: set(lines) for phase, lines in TABLE.items()} == {
        phase: set(faults) for phase, faults in FAULTS.items()
    }


def test_every_kind_of_fault_has_words():
    lines = "\n".join(line for lines in TABLE.values() for line in lines.values())
    found = set(re.findall(r"\d+ ([a-z ]+) \(first: ", lines))
    assert found == {kind.value for kind in FaultKind}
