import pytest

from evaluation.io.volumes.header import Geometry, check_geometry

EXPECTED = Geometry((5, 512, 256), (0.01, 0.004, 0.12))


@pytest.mark.parametrize(
    ("found", "hint"),
    [
        (Geometry((256, 512, 5)), "the axes are exchanged"),
        (Geometry((5, 256, 512)), "the axes are exchanged"),
        (
            Geometry((5, 256, 128), (0.02, 0.008, 0.12)),
            "resampled? A prediction has the voxels of the original volume",
        ),
        (Geometry((5, 256, 128), (0.01, 0.004, 0.12)), None),
        (Geometry((5, 256, 128)), None),
    ],
)
def test_what_a_wrong_shape_probably_is(found, hint):
    assert check_geometry(found, EXPECTED)[0].hint == hint
