import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.organiser.annotators.staple import staple


def plain_staple(votes, iterations):
    """Expectation maximisation as in the paper; the prior is the mean of all votes.

    Voxels of equal votes are one with their number. It ends before so many iterations where they have stopped
    to change anything.
    """
    votes, of_voxel, number = np.unique(
        votes.reshape(len(votes), -1), axis=1, return_inverse=True, return_counts=True
    )
    prior = np.average(votes.mean(axis=0), weights=number)
    p = np.full(len(votes), 0.99999)
    q = np.full(len(votes), 0.99999)
    for _ in range(iterations):
        foreground = prior * np.prod(np.where(votes, p[:, None], 1 - p[:, None]), axis=0)
        background = (1 - prior) * np.prod(np.where(votes, 1 - q[:, None], q[:, None]), axis=0)
        weight = foreground / (foreground + background)
        before = p, q
        p = (votes * weight) @ number / (weight @ number)
        q = (~votes * (1 - weight)) @ number / ((1 - weight) @ number)
        if np.abs(np.subtract(before, (p, q))).max() < 1e-14:
            break
    return weight[of_voxel.reshape(-1)], p, q


def masks(seed: int, errors: list[float], size: int = 20) -> np.ndarray:
    """Return a square under independent errors of its annotators."""
    rng = np.random.default_rng(seed)
    truth = np.zeros((size, size), dtype=bool)
    truth[size // 4 : 2 * size // 3, size // 3 : 3 * size // 4] = True
    return truth ^ (rng.random((len(errors), size, size)) < np.reshape(errors, (-1, 1, 1)))


@settings(max_examples=12)
@given(seed=st.integers(0, 1000), annotators=st.integers(3, 6))
def test_against_the_paper(seed, annotators):
    errors = np.random.default_rng(seed).uniform(0.02, 0.25, annotators).tolist()
    votes = masks(seed, errors)
    found = staple(votes)
    assert found.converged
    weight, sensitivities, specificities = plain_staple(votes, 400_000)
    assert found.sensitivities == pytest.approx(sensitivities, abs=1e-6)
    assert found.specificities == pytest.approx(specificities, abs=1e-6)
    clear = np.abs(weight - 0.5) > 1e-5
    np.testing.assert_array_equal(found.mask.ravel()[clear], (weight >= 0.5)[clear])


def test_a_random_annotator_converges_in_few_steps_or_says_that_it_did_not():
    """Plain expectation maximisation takes thousands of steps here, and stops on the way if it may not."""
    votes = masks(4, [0.04, 0.3, 0.5, 0.5], 40)
    found = staple(votes)
    assert found.converged
    assert found.iterations < 2000
    early, late = (plain_staple(votes, steps) for steps in (1000, 20_000))
    assert found.sensitivities == pytest.approx(late[1], abs=1e-6)
    assert np.abs(early[1] - late[1]).max() > 1e-5
    assert not staple(votes, most_iterations=10).converged
    with pytest.raises(ValueError, match=r"^votes:"):
        staple(votes[:0])


@pytest.mark.parametrize("annotators", [16, 17, 30])
def test_many_annotators_are_counted_as_few(annotators):
    votes = masks(1, [0.3] * annotators, 40)
    found, (_, sensitivities, *_) = staple(votes), plain_staple(votes, 200)
    assert found.sensitivities == pytest.approx(sensitivities, abs=1e-6)


@pytest.mark.parametrize("value", [False, True])
def test_annotators_who_agree(value):
    found = staple(np.full((3, 2, 2), value))
    assert (found.mask == value).all()
    assert (found.iterations, found.converged) == (0, True)
    assert found.sensitivities == found.specificities == (1, 1, 1)
