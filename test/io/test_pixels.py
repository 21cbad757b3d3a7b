import pytest

from evaluation.core.fault import ReadError
from evaluation.io.pixels import Size, check_size, values_in_words

RESAMPLED = "resampled to {} times its size? A mask has the size of the original image"


@pytest.mark.parametrize(
    ("found", "hint"),
    [
        (Size(2056, 2124), "width and height are exchanged: the image is transposed or rotated"),
        (Size(1062, 1028), RESAMPLED.format("0.5")),
        (Size(512, 496), RESAMPLED.format("0.241")),  # rounded to whole pixels
        (Size(4248, 4112), RESAMPLED.format("2")),
        (Size(512, 512), None),  # not of the same shape
        (Size(0, 0), None),
    ],
)
def test_what_a_wrong_size_probably_is(found, hint):
    with pytest.raises(ReadError) as raised:
        check_size(found, Size(2124, 2056))
    assert raised.value.hint == hint
    assert raised.value.fault("a.png").hint == hint


@pytest.mark.parametrize(
    ("values", "text"),
    [([], ""), ([7], "7"), ([1, 2, 3, 4, 5], "1, 2, 3, 4, 5"), (range(8), "0, 1, 2, 3, 4 and 3 more")],
)
def test_few_of_many_values_are_named(values, text):
    assert values_in_words(values) == text
