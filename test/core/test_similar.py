import pytest

from evaluation.core.fault import most_similar

CLASSES = ("melanoma", "naevus", "basal cell carcinoma")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("Melanoma", "melanoma"),
        ("melanom", "melanoma"),
        ("nevus", "naevus"),
        ("basal_cell_carcinoma", "basal cell carcinoma"),
        ("keratosis", None),
        ("", None),
        ("melanoma" * 100_000, None),
    ],
)
def test_the_name_that_was_probably_meant(wanted, found):
    assert most_similar(wanted, CLASSES) == found


def test_nothing_is_similar_to_no_name():
    assert most_similar("melanoma", ()) is None
