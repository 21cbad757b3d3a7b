"""The published figures, through the command line, by who has only the papers."""

import os
import subprocess

import pytest

from test.repository import REPOSITORY
from test.started import write_program

SCRIPT = REPOSITORY / "examples/published/reproduce.sh"


@pytest.fixture(scope="module")
def printed(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("published")
    write_program(folder / "python")
    done = subprocess.run(
        ["bash", SCRIPT, folder / "output"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHON": str(folder / "python")},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


EQUAL = {
    "REFUGE Table 4, ranks": "12 of 12",
    "REFUGE Table 6": "57 of 60",
    "REFUGE Eq. 5, with a made-up off-line set": "12 of 12",
    "REFUGE Table 4": "7 of 12",
    "REFUGE section 4.1, two experts, %": "10 of 10",
    "REFUGE section 5.1.2": "0 of 4",
    "ADAM Table 1": "12 of 12",
    "ADAM Table 3": "9 of 9",
    "ADAM Table 5": "9 of 9",
    "ADAM Table 7": "10 of 10",
    "ADAM section 4.3, fovea without additional data, %": "2 of 2",
    "ADAM Table 9": "9 of 9",
    "ADAM Table 13, lesions without additional data, %": "4 of 4",
    "ADAM Eq. 6, with a made-up online set": "11 of 11",
    "ADAM Table 9, F1 of a team that marks every image (from Table 1)": "5 of 5",
    "ADAM Table 11, weighted with the numbers of images": "9 of 9",
    "ADAM, the text and its tables": "0 of 6",
    "EDD2020 section III": "0 of 1",
    "JustRAIGS sample size": "2 of 4",
    "Cyst benchmark, volumes and assignment of readers": "4 of 4",
    "Cyst benchmark, time of a single reader": "2 of 3",
    "Scores from their parts, and as evaluate gives them (the papers print formulas alone)": "3 of 3",
}


@pytest.mark.parametrize(("title", "equal"), EQUAL.items())
def test_each_table_is_reproduced_but_for_known_misprints(printed, title, equal):
    table = printed.partition(f"\n{title}\n")[2].partition("\n\n")[0]
    assert f"  {equal} equal" in table
    assert "DIFFERENT" not in table


def test_orders_that_follow_from_several_tables(printed):
    refuge = printed.partition("REFUGE, on-site order")[2].partition("\n\n")[0].splitlines()[1:]
    assert [line.split()[1] for line in refuge][:3] == ["CUHKMED", "VRT", "Masker"]
    assert [line.split()[-1] for line in refuge] == (
        ["1.8", "3.4", "3.6", "4", "5", "6.2", "6.8", "7.6", "8.4", "9.4", "10.8", "11"]
    )
    adam = printed.partition("ADAM, on-site order")[2].partition("\n\n")[0]
    assert "8  XxlzT                         8.3\n    9  TeamTiger                     8.3" in adam
