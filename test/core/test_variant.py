import numpy as np

from evaluation.core.field import grow_by_a_pixel


def test_a_pixel_more():
    image = np.array([[0, 0, 7], [7, 0, 0], [0, 7, 0]])
    grow_by_a_pixel(image, 0)
    # The region of the first row ends at the border; that of the second is the first with room to its right.
    assert image.tolist() == [[0, 0, 7], [7, 7, 0], [0, 7, 0]]
