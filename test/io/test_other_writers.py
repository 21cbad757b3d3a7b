"""Files of other people's writers: read as the same library reads them, or refused for a reason."""

import nibabel
import numpy as np
import pytest

from evaluation.core.fault import ReadError
from evaluation.io.volume_header import Geometry, check_geometry
from test.io.volumes.files import VALUES, read

LABELS = (VALUES * 100).astype(np.uint8)
TO_LEFT_AND_BACK = np.diag([-1.0, -1.0, 1.0])
AFFINE = np.array([[0, -0.8, 0, -12.5], [0.7, 0, 0, 33], [0, 0, -2.5, 1000.25], [0, 0, 0, 1]])
BOTH = {"sform": 2, "qform": 1}
WRITTEN = {
    "big-endian": ({"endianness": ">"}, "i2", BOTH),
    "big-endian numbers": ({"endianness": ">"}, "f4", BOTH),
    "matrix alone": ({}, "u1", {"sform": 4, "qform": 0}),
    "rotation alone": ({}, "u1", {"sform": 0, "qform": 1}),
    "extension of the header": ({"extensions": True}, "u1", BOTH),
    "fourth axis of 1": ({"axes": 4}, "u1", BOTH),
    "complex numbers": ({}, "c8", BOTH),
}
REFUSED = {"complex numbers": "another type of values"}
"""By name of a file: what is found in it. The rest is read as its writer reads it."""


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("kind", [nibabel.Nifti1Image, nibabel.Nifti2Image])
def test_volumes_of_nibabel(kind, name, tmp_path):
    options, dtype, codes = WRITTEN[name]
    header = kind.header_class(endianness=options.get("endianness", "<"))
    values = LABELS.astype(dtype).T
    image = kind(values[..., np.newaxis] if "axes" in options else values, AFFINE, header, dtype=values.dtype)
    image.set_sform(AFFINE if codes["sform"] else None, code=codes["sform"])
    image.set_qform(AFFINE if codes["qform"] else None, code=codes["qform"])
    if "extensions" in options:
        image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"a" * 1000))
    image.to_filename(tmp_path / "V.nii")
    data = (tmp_path / "V.nii").read_bytes()
    if name in REFUSED:
        with pytest.raises(ReadError) as error:
            read(data, ".nii")
        assert error.value.found == REFUSED[name]
        return
    header, found = read(data, ".nii")
    np.testing.assert_array_equal(found, values.T)
    assert found.dtype == values.dtype
    spacing, matrix = (0.7, 0.8, 2.5), TO_LEFT_AND_BACK @ AFFINE[:3]
    direction = (matrix[:, :3] / spacing).ravel().tolist()
    expected = Geometry(found.shape, spacing, tuple(matrix[:, 3].tolist()), tuple(direction))
    assert check_geometry(header.geometry, expected) == []
