"""Every kind of message in its exact words; `test.hostile` holds the command itself to those of its own.

What is odd there and scored has no message. Rows that `test.hostile` runs always are compared there.
"""

import re

import pytest

from evaluation.core.fault import FaultKind
from test.hostile.submissions import Row
from test.hostile.test_submissions import ALWAYS

from . import table
from .faults import FAULTS, ROWS_OF
from .lines import faults_of, line_of

TABLE = table()


@pytest.mark.parametrize(
    ("phase", "name"),
    [(phase, name) for phase, faults in FAULTS.items() for name in faults if name not in ALWAYS],
)
def test_words(phase, name, tmp_path):
    assert line_of(phase, FAULTS[phase][name], tmp_path) == TABLE[phase][name]


@pytest.mark.parametrize(
    ("phase", "row"),
    [
        pytest.param(phase, row, id=name)
        for phase, rows in ROWS_OF.items()
        for name, row in rows.items()
        if row.expected is not None and name not in ALWAYS
    ],
)
def test_what_is_odd_has_no_fault(phase, row: Row, tmp_path):
    told = [str(fault) for fault in faults_of(phase, row.spoil, tmp_path)]
    assert told == [] or (isinstance(row.expected, str) and row.expected in told[0])


def test_the_table_holds_the_faults_that_there_are():
    assert {phase: set(lines) for phase, lines in TABLE.items()} == {
        phase: set(faults) for phase, faults in FAULTS.items()
    }


def test_every_kind_of_fault_has_words():
    lines = "\n".join(line for lines in TABLE.values() for line in lines.values())
    found = set(re.findall(r"\d+ ([a-z ]+) \(first: ", lines))
    assert found == {kind.value for kind in FaultKind}
