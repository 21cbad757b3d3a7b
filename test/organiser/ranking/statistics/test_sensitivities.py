"""Sensitivities after exchanges, against those of the exchanged scores in the module of ROC figures."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.classification import roc_table
from evaluation.metrics.operating_points import weighted_sensitivity_at_specificity
from evaluation.organiser.ranking.exchanges import ExchangedSensitivities


@given(
    st.integers(2, 12).flatmap(
        lambda cases: st.tuples(
            st.lists(st.booleans(), min_size=cases, max_size=cases).filter(lambda label: len({*label}) == 2),
            *[st.lists(st.sampled_from([0, 1, 2, 3, None]), min_size=cases, max_size=cases)] * 2,
            st.lists(st.lists(st.booleans(), min_size=cases, max_size=cases), min_size=1, max_size=4),
        )
    ),
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(17, 20), Fraction(19, 20), Fraction(1)]),
)
def test_after_exchanges(drawn, target):
    label, *given_scores, exchanged = drawn
    # A missing result is as bad as can be for its class.
    missing = np.where(label, -np.inf, np.inf)
    first, second = (np.array(scores, dtype=float) for scores in given_scores)
    first, second = (np.where(np.isnan(scores), missing, scores) for scores in (first, second))
    found = ExchangedSensitivities([first, second], label, target).between(0, 1)(np.array(exchanged))
    for row, moved in enumerate(exchanged):
        for of_team, kept, taken in zip(found, (first, second), (second, first), strict=True):
            table = roc_table(np.where(moved, taken, kept), label)
            assert (
                of_team[row]
                == weighted_sensitivity_at_specificity(table, np.ones((1, len(label))), target)[0]
            )


def test_a_class_is_missing():
    with pytest.raises(ValueError, match="expected positives and negatives"):
        ExchangedSensitivities([[0.0, 1.0]], [True, True], Fraction(1, 2))
