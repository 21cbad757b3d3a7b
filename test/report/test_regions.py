"""Regions of masks and volumes: structures, sizes and ratios, by hand."""

import numpy as np
import pytest

from evaluation.challenges.refuge.rules import CHALLENGE, CUP, DISC, ELSEWHERE, RefugeOptions
from evaluation.core.challenge import fields_of
from evaluation.core.form import CaseForm
from evaluation.metrics.crop import crop
from evaluation.report.regions import Ratio, Size, ratios, regions, sizes

FIELD = next(field for field in fields_of(CHALLENGE.tasks(RefugeOptions())) if field.name == "segmentation")


def mask(rows_of_cup, rows_of_disc):
    image = np.full((12, 10), ELSEWHERE, np.uint8)
    image[2 : 2 + rows_of_disc, 2:6] = DISC
    image[3 : 3 + rows_of_cup, 3:5] = CUP
    return crop(image, ELSEWHERE)


PREDICTED, REFERENCE = mask(2, 6), mask(4, 8)


def test_the_disc_includes_the_cup():
    found = {region.structure: region for region in regions(FIELD, PREDICTED, REFERENCE)}
    assert list(found) == ["optic cup", "optic disc"]
    assert np.count_nonzero(found["optic cup"].reference.values) == 8
    assert np.count_nonzero(found["optic disc"].reference.values) == 32


def test_sizes_and_what_they_share():
    found = list(sizes(FIELD, CaseForm("a", 10, 12), PREDICTED, REFERENCE))
    assert found == [Size("optic cup", "pixels", 4, 8, 4), Size("optic disc", "pixels", 24, 32, 24)]
    assert found[0].dice == pytest.approx(2 * 4 / 12)
    assert Size("x", "pixels", 0, 0, 0).dice == 0


def test_the_ratio_is_of_vertical_extents():
    (found,) = ratios(FIELD, PREDICTED, REFERENCE, "extent")
    assert found == Ratio("Vertical ratio of optic cup to optic disc", 2 / 6, 4 / 8)
