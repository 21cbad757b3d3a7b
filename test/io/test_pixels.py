import pytest

from evaluation.core.fault import ReadError
from evaluation.io.pixels import check_size
from evaluation.io.size import Size

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
