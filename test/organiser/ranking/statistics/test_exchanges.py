import numpy as np
import pytest

from evaluation.organiser.ranking.exchanges import exchanges


@pytest.mark.parametrize("units", [1, 2, 5])
def test_all_exchanges_are_made_once_up_to_the_mirror_image(units):
    chosen = exchanges(np.arange(units), seed=1)
    rows = np.concatenate(list(chosen.blocks()))
    assert chosen.complete
    assert rows.shape == (2 ** (units - 1), units)
    assert not rows[0].any()
    both = {tuple(row) for row in np.concatenate([rows, ~rows]).tolist()}
    assert len(both) == 2**units


@pytest.mark.parametrize(
    ("permutations", "complete", "rows"), [(15, True, 16), (14, False, 14), (9_999, True, 16)]
)
def test_random_exchanges_only_where_all_would_be_more(permutations, complete, rows):
    chosen = exchanges(np.arange(5), 1, permutations)
    assert (chosen.complete, chosen.rows) == (complete, rows)


def test_p_values():
    assert exchanges(np.arange(5), 1).p_value(3) == 3 / 16
    assert exchanges(np.arange(50), 1, 99).p_value(3) == 4 / 100


def test_random_exchanges_depend_on_the_seed_and_not_on_the_blocks():
    units = np.arange(40) // 2

    def rows(seed: int) -> np.ndarray:
        blocks = list(exchanges(units, seed, 10_000).blocks())
        assert len(blocks) > 1
        return np.concatenate(blocks)

    expected = rows(3)
    assert expected.shape == (10_000, 20)
    assert expected.mean() == pytest.approx(0.5, abs=0.03)
    assert not np.array_equal(rows(4), expected)
    np.testing.assert_array_equal(rows(3), expected)
    np.testing.assert_array_equal(np.concatenate(list(exchanges(units, 3, 10_000).blocks(7))), expected)
