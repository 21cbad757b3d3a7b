import pytest

from evaluation.metrics.surface_convention import SurfaceConvention


def test_elements_have_no_interpolated_percentile():
    with pytest.raises(ValueError, match="expected 'index' for surface 'elements'"):
        SurfaceConvention(surface="elements", percentile="linear")
