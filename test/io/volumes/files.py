"""A volume and its files, for the tests of the readers of every format."""

import io

import numpy as np
import SimpleITK

from evaluation.io.volume_header import Geometry
from evaluation.io.volumes import open_volume

TILTED = (0.8, -0.6, 0.0, 0.6, 0.8, 0.0, 0.0, 0.0, 1.0)
GEOMETRY = Geometry((3, 4, 5), (0.5, 0.25, 0.125), (1.5, -2.0, 3.25), TILTED)
VALUES = np.random.default_rng(0).random((3, 4, 5)).astype(np.float32)
EXTENSIONS = (".mha", ".nii.gz", ".nii", ".nrrd", ".tif")


class Bytes(io.BytesIO):
    @property
    def size(self):
        return len(self.getvalue())

    def __len__(self):
        return self.size

    def __getitem__(self, part):
        return self.getvalue()[part]


def read(data, extension):
    volume = open_volume(Bytes(data), f"V1{extension}")
    return volume.header, np.stack([plane.values.copy() for plane in volume.planes()])


def written_by_simpleitk(path, values, compress=True, geometry=GEOMETRY):
    image = SimpleITK.GetImageFromArray(values)
    if values.ndim == 3:
        image.SetSpacing(geometry.spacing_mm)
        image.SetOrigin(geometry.origin_mm)
        image.SetDirection(geometry.direction)
    SimpleITK.WriteImage(image, str(path), useCompression=compress)
    return path.read_bytes()
