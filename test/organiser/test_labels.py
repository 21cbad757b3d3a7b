"""The labels of a phase, counted by hand."""

import math

import pytest

from evaluation.evaluate import scores_of_nothing
from evaluation.organiser.audit import bits_of_counts, hidden_labels, label_columns
from test.phases import loaded_phase, tiny_cases


@pytest.mark.parametrize(
    ("counts", "ways"),
    [((2, 2), 6), ((40, 360), math.comb(400, 40)), ((1, 1, 1), 6), ((3,), 1), ((6, 96, 498), None)],
)
def test_bits_are_the_logarithm_of_the_ways_to_deal_labels_out(counts, ways):
    ways = ways or math.comb(600, 6) * math.comb(594, 96)
    assert bits_of_counts(counts) == pytest.approx(math.log2(ways), abs=1e-9)


def test_labels_of_refuge(tmp_path):
    """Glaucoma stands in the case table and in the AUC's column: it is one label, of two names."""
    phase = loaded_phase(tmp_path / "phase", tiny_cases(12, positives=3))
    assert label_columns(phase) == ("glaucoma", "fovea_x", "fovea_y")
    labels = hidden_labels(phase, scores_of_nothing(phase, phase.tasks, 0).tables)
    # All foveas lie at y = 5.5, which is no secret; the x are 2 + number modulo 10.
    assert [label.names for label in labels] == [("classification.glaucoma", "glaucoma"), ("fovea_x",)]
    assert sorted(labels[0].counts.values()) == [3, 9]
    assert labels[0].members["1"] == {"V0001", "V0002", "V0003"}
    assert len(labels[1].counts) == 10


def test_many_numbers_are_cut_at_their_quartiles(tmp_path):
    phase = loaded_phase(tmp_path / "phase", 16, columns={"fovea_x": [number / 2 for number in range(16)]})
    labels = hidden_labels(phase, scores_of_nothing(phase, phase.tasks, 0).tables)
    assert sorted(labels[-1].counts.values()) == [4, 4, 4, 4]
