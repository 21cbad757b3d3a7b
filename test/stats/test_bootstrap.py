import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.stats.bootstrap import bootstrap_of


def drawn(strata, clusters=None, seed=1, resamples=50):
    return np.concatenate(list(bootstrap_of(strata, clusters, seed, resamples).case_weights()))


@settings(max_examples=25)
@given(st.lists(st.integers(-1, 3), max_size=12), st.integers(0, 2**31))
def test_rows_sum_to_the_size_of_every_stratum(strata, seed):
    weights = drawn(strata, seed=seed)
    assert weights.shape == (50, len(strata))
    assert (weights == np.round(weights)).all()
    assert (weights >= 0).all()
    for stratum in range(-1, 4):
        inside = np.array(strata, dtype=int) == stratum
        expected = 0 if stratum == -1 else inside.sum()
        assert (weights[:, inside].sum(axis=1) == expected).all()


def test_blocks_are_bounded_and_do_not_show():
    strata = np.arange(10_000) % 2
    blocks = list(bootstrap_of(strata, None, 3, 230).case_weights())
    assert [block.shape for block in blocks] == [(50, 10_000)] * 4 + [(30, 10_000)]
    whole = np.concatenate(blocks)
    np.testing.assert_array_equal(whole[:9], drawn(strata, None, 3, 9))
    np.testing.assert_array_equal(whole[:1], drawn(strata, None, 3, 1))
    assert not np.array_equal(whole[:9], drawn(strata, None, 4, 9))


def test_counts_are_multinomial():
    # In a stratum of 4 a count is binomial(4, 1/4): mean 1, variance 3/4; two have the covariance −1/4.
    strata = [0, 1, 0, 0, 1, 0, -1]
    weights = drawn(strata, seed=11, resamples=40_000)
    covariance = np.cov(weights.T)
    four = np.ix_([0, 2, 3, 5], [0, 2, 3, 5])
    np.testing.assert_allclose(weights.mean(axis=0), [1, 1, 1, 1, 1, 1, 0], atol=0.02)
    np.testing.assert_allclose(covariance[four], np.eye(4) - 0.25, atol=0.02)
    np.testing.assert_allclose(covariance[np.ix_([1, 4], [1, 4])], [[0.5, -0.5], [-0.5, 0.5]], atol=0.02)
    np.testing.assert_allclose(covariance[np.ix_([0, 2, 3, 5], [1, 4])], 0, atol=0.02)  # strata: independent
    share = np.bincount(weights[:, 0].astype(int), minlength=5) / 40_000
    np.testing.assert_allclose(share, np.array([81, 108, 54, 12, 1]) / 256, atol=0.01)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 4)), min_size=1, max_size=14), st.integers(0, 99)
)
def test_cluster_weights_are_those_of_their_clusters(cases, seed):
    strata, clusters = np.array(cases).T
    weights = drawn(strata, clusters, seed, 20)
    inside = strata >= 0
    assert (weights[:, ~inside] == 0).all()
    sets = {c: frozenset(strata[inside & (clusters == c)]) for c in set(clusters[inside].tolist())}
    for kind in set(sets.values()):
        of_kind = [c for c in sets if sets[c] == kind]
        total = 0
        for c in of_kind:
            columns = weights[:, inside & (clusters == c)]
            assert (columns == columns[:, :1]).all()
            total = total + columns[:, 0]
        assert (total == len(of_kind)).all()


def test_singleton_clusters_draw_the_same_as_no_clusters():
    strata = [0, 1, 1, 0, 0, 1]
    np.testing.assert_array_equal(drawn(strata), drawn(strata, [10, 11, 12, 13, 14, 15]))


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(-4, 4)), min_size=1, max_size=14),
    st.booleans(),
    st.sampled_from([1, 10**6]),
    st.integers(0, 12),
    st.integers(0, 12),
)
def test_some_rows_of_the_units_are_those_of_their_cases(cases, clustered, apart, first, number):
    strata, clusters = np.array(cases).T
    clusters = clusters * apart if clustered else None
    bootstrap = bootstrap_of(strata, clusters, 5, 24)
    expected = drawn(strata, clusters, 5, 24)[first : first + number]
    blocks = list(bootstrap.unit_weights(range(24)[first : first + number]))
    assert all(block.shape == (len(block.of_units), len(strata)) for block in blocks)
    inside = strata >= 0
    found = [block.among(inside).of_cases for block in blocks]
    assert sum(len(rows) for rows in found) == number
    if found:
        np.testing.assert_array_equal(np.concatenate(found), expected[:, inside])
        units = len(
            {(c,) if clustered else i for i, c in enumerate(clusters if clustered else strata) if inside[i]}
        )
        assert {block.of_units.shape[1] for block in blocks} == {units}


def test_many_units_come_in_blocks_of_all_rows():
    bootstrap = bootstrap_of(np.zeros(10_000, dtype=int), None, 3, 40)
    blocks = [block.of_cases for block in bootstrap.unit_weights(range(5, 40))]
    assert len(blocks) > 2
    np.testing.assert_array_equal(np.concatenate(blocks), drawn(np.zeros(10_000, int), None, 3, 40)[5:])
