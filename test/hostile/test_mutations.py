"""Spoilt files of every format but images; `python -m test.hostile.mutations` spoils more."""

import pytest

from .mutations import finding, formats, inputs_of


@pytest.mark.parametrize("number", [20, pytest.param(2000, marks=pytest.mark.weekly)])
@pytest.mark.parametrize("name", formats())
def test_a_spoilt_file_is_refused_or_read(name, number):
    assert [found for data in inputs_of(name, number, 0) if (found := finding(name, data)) is not None] == []


@pytest.mark.parametrize("name", formats())
def test_valid_files_are_read(name):
    for data in formats()[name].seeds:
        formats()[name].read(data)
