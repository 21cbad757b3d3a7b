import pytest

from evaluation.io.volume_header import UPRIGHT, Geometry, check_geometry

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


PLACED = Geometry((5, 5, 5), (0.5, 0.5, 2.0), (-100.0, -80.0, 30.0), UPRIGHT)


@pytest.mark.parametrize(
    ("found", "hint"),
    [
        (Geometry((5, 5, 5), (2.0, 0.5, 0.5)), "the axes are exchanged"),
        (Geometry((5, 5, 5), (0.5, 0.5, 1.0)), None),
        (Geometry((5, 5, 5), None, (30.0, -80.0, -100.0)), "the axes are exchanged"),
        (Geometry((5, 5, 5), None, (100.0, 80.0, 30.0)), "some axes point the other way"),
        (Geometry((5, 5, 5), None, (0.0, 0.0, 0.0)), None),
        (Geometry((5, 5, 5), None, None, (0, 0, 1, 0, 1, 0, 1, 0, 0)), "the axes are exchanged"),
        (Geometry((5, 5, 5), None, None, (-1, 0, 0, 0, -1, 0, 0, 0, 1)), "some axes point the other way"),
        (Geometry((5, 5, 5), None, None, (0.8, -0.6, 0, 0.6, 0.8, 0, 0, 0, 1)), None),
    ],
)
def test_what_a_wrong_position_probably_is(found, hint):
    (problem,) = check_geometry(found, PLACED)
    assert problem.hint == hint


@pytest.mark.parametrize(("cosine", "faults"), [(0.9991, 0), (0.9989, 1)])
def test_the_tolerance_of_directions(cosine, faults):
    found = Geometry((5, 5, 5), None, None, (cosine, *UPRIGHT[1:]))
    assert len(check_geometry(found, PLACED)) == faults
