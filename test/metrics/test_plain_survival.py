import math

import numpy as np
import pytest

from evaluation.metrics import concordance_index
from test.metrics.record_concordance import survival_data


@pytest.mark.parametrize("seed", RECORDED)
def test_as_lifelines(seed):
    predicted, time, event = survival_data(seed)
    assert concordance_index(predicted, time, event) == pytest.approx(RECORDED[seed], abs=1e-12)
    assert concordance_index(-predicted, time, event) == pytest.approx(1 - RECORDED[seed], abs=1e-12)
    copies = np.repeat(np.arange(len(time)), np.arange(len(time)) % 3)
    found = concordance_index(predicted, time, event, weights=np.arange(len(time)) % 3)
    assert found == pytest.approx(concordance_index(predicted[copies], time[copies], event[copies]))


def test_empty_input_and_arguments_that_do_not_fit():
    assert math.isnan(concordance_index([], [], []))
    with pytest.raises(ValueError, match=r"expected one shape \(cases,\), found \(1,\), \(2,\), \(2,\)"):
        concordance_index([1], [1, 2], [1, 0])
    with pytest.raises(ValueError, match="event: expected 0 and 1 only, found 2"):
        concordance_index([1, 2], [1, 2], [1, 2])
