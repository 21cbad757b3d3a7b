"""Every phase of the repository gives the figures that are kept, or the commit shows which it changes."""

import numpy as np
import pytest

from test.golden.__main__ import compared
from test.golden.figures import differences, text_of
from test.golden.sources import FOLDER, SOURCES


@pytest.mark.parametrize("name", SOURCES)
def test_the_phase_gives_the_figures_that_are_kept(name):
    assert compared(SOURCES[name], write=False) == []


def test_nothing_is_kept_of_phases_that_are_gone():
    starter_is_there = any(name.startswith("new-") for name in SOURCES)
    kept = {path.name for path in FOLDER.iterdir() if (path / "leaderboard.json").exists()}
    assert {name for name in kept if starter_is_there or not name.startswith("new-")} == set(SOURCES)


def test_a_difference_has_its_path_and_both_values():
    before = {"cases": [{"name": "a", "dice": 0.5}, {"name": "b", "dice": 0.25}], "places": [1, 2], "n": 1}
    after = {"cases": [{"name": "a", "dice": 0.5}, {"name": "b", "dice": 0.26}], "places": [1], "n": True}
    assert list(differences(text_of(before), text_of(after))) == [
        "cases[b].dice: 0.25 -> 0.26",
        "places[1]: 2 -> nothing",
        "n: 1 -> True",
    ]
    assert not list(differences(text_of(before), text_of(before)))


def test_the_last_bits_of_a_number_are_no_difference_and_all_else_is():
    value = 0.1 + 0.2
    assert not list(differences(text_of({"a": value}), text_of({"a": np.nextafter(value, 1)})))
    assert list(differences(text_of({"a": value}), text_of({"a": value * (1 + 1e-8)})))
    assert list(differences(text_of({"a": "reader"}), text_of({"a": "Reader"})))
