import numpy as np
import pytest

from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.kinds.masks import MultilabelMask
from evaluation.io.tiff import write_tiff
from evaluation.metrics.crops import Crop
from test.faults import faulted
from test.io.memory import InMemory

KIND = MultilabelMask(("BE", "HGD", "polyp"))
PATH = "semantic_masks/E1_mask.tif"


def read(values):
    return KIND.read(FileSource(PATH), CaseForm("E1", 5, 4), InMemory({PATH: write_tiff(values)}))


def test_each_class_is_a_region_of_its_own():
    mask = np.zeros((3, 4, 5), bool)
    mask[0, 1:3, 2:5] = True
    mask[2, 2, 2] = True
    files = InMemory({PATH: KIND.write_file(mask, ".tif")})
    regions = KIND.read(FileSource(PATH), CaseForm("E1", 5, 4), files)
    assert [(region.values.shape, (region.top, region.left)) for region in regions] == [
        ((2, 3), (1, 2)),
        ((0, 0), (0, 0)),
        ((1, 1), (2, 2)),
    ]
    assert all(region.values.all() for region in regions)


def test_other_values_are_faults_of_their_channels():
    values = np.zeros((3, 4, 5), np.uint8)
    values[0, 0, 0], values[0, 1, 1], values[2, 3, 4] = 1, 255, 128
    with pytest.raises(FormFault) as caught:
        read(values)
    assert list(map(str, caught.value.faults)) == [
        "semantic_masks/E1_mask.tif, channel BE: expected values 0 or 255 only, found 1 "
        "(a 0/1 mask? Write 255 for 1)",
        "semantic_masks/E1_mask.tif, channel polyp: expected values 0 or 255 only, found 128",
    ]


def test_another_size_is_a_fault():
    with faulted(FormFault, "semantic_masks/E1_mask.tif", "6 × 4 pixels", kind=FaultKind.WRONG_SIZE):
        read(np.zeros((3, 4, 6), np.uint8))


def test_variants_for_a_rehearsal():
    kind, case = MultilabelMask(("a", "b")), CaseForm("E1", 4, 3)
    reference = (Crop(np.ones((2, 2), bool), 1, 1), Crop(np.zeros((0, 0), bool)))

    def images(variant):
        return [region.in_image(3, 4) for region in kind.rehearse(reference, case, variant)]

    perfect, inverted, near, empty = map(
        images, (Variant.PERFECT, Variant.INVERTED, Variant.NEAR, Variant.EMPTY)
    )
    assert perfect[0].sum() == 4
    assert [(one ^ other).all() for one, other in zip(perfect, inverted, strict=True)] == [True, True]
    assert np.argwhere(near[0] ^ perfect[0]).tolist() == [[1, 3]]
    assert not near[1].any()
    assert not any(image.any() for image in empty)
