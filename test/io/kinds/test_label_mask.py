import numpy as np
import pytest

from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.kinds.masks import LabelMask
from test.io.memory import InMemory

CASE = CaseForm("V0001", width=5, height=4)
STRICT = LabelMask({0: "cup", 128: "disc"}, 255)
LENIENT = LabelMask({0: "cup", 128: "disc"}, 255, unlisted_as=128)


def image(*rows):
    return np.array(rows, np.uint8)


MASK = image(
    [255, 255, 255, 255, 255],
    [255, 128, 0, 128, 255],
    [255, 128, 128, 128, 255],
    [255, 255, 255, 255, 255],
)


def read(kind, pixels, extension=".bmp", case=CASE):
    path = f"mask{extension}"
    return kind.read(FileSource(path), case, InMemory({path: kind.write_file(pixels, extension)}))


@pytest.mark.parametrize("extension", [".bmp", ".png", ".tif"])
def test_a_mask_is_read_cropped_to_its_foreground(extension):
    mask = read(STRICT, MASK, extension)
    assert mask.values.tolist() == [[128, 0, 128], [128, 128, 128]]
    assert (mask.top, mask.left) == (1, 1)


def test_a_mask_without_foreground():
    mask = read(STRICT, np.full((4, 5), 255, np.uint8))
    assert mask.values.shape == (0, 0)


def fault_of(*arguments, **named):
    with pytest.raises(FormFault) as caught:
        read(*arguments, **named)
    (fault,) = caught.value.faults
    return fault


def test_unlisted_values_are_named():
    pixels = MASK.copy()
    pixels[0, :] = [7, 127, 1, 254, 255]
    fault = fault_of(STRICT, pixels)
    assert str(fault) == "mask.bmp: expected values 0 or 128 or 255 only, found 1, 7, 127, 254"
    assert fault.kind is FaultKind.WRONG_VALUE


def test_of_many_unlisted_values_five_are_named():
    assert (
        fault_of(STRICT, np.arange(1, 21, dtype=np.uint8).reshape(4, 5)).found == "1, 2, 3, 4, 5 and 15 more"
    )


def test_unlisted_values_can_be_read_as_a_label():
    pixels = MASK.copy()
    pixels[0, :] = [7, 127, 1, 254, 255]
    mask = read(LENIENT, pixels)
    assert mask.values.tolist() == [[128, 128, 128, 128], [255, 128, 0, 128], [255, 128, 128, 128]]
    assert (mask.top, mask.left) == (0, 0)


def test_another_size_names_both():
    fault = fault_of(STRICT, MASK, case=CaseForm("V0001", width=4, height=5))
    assert fault.kind is FaultKind.WRONG_SIZE
    assert (fault.expected, fault.found) == ("4 × 5 pixels", "5 × 4 pixels")


def test_a_file_has_room_for_colours_and_a_header_and_not_for_a_bomb():
    files = InMemory({"a.bmp": STRICT.write_file(MASK, ".bmp")})
    STRICT.read(FileSource("a.bmp"), CASE, files)
    assert 4 * 20 < files.limits[0] < 4 * 20 + (2 << 20)


def derived(pixels, variant):
    """Return the full image of a variant; its crop must be as tight as that of a mask that was read."""
    mask = STRICT.rehearse(read(STRICT, pixels), CASE, variant)
    assert mask.values.base is None or variant is Variant.PERFECT  # no whole image is kept for a part of it
    image = np.full(MASK.shape, 255, np.uint8)
    height, width = mask.values.shape
    image[mask.top : mask.top + height, mask.left : mask.left + width] = mask.values
    tight = read(STRICT, image)
    assert (mask.top, mask.left) == (tight.top, tight.left)
    assert mask.values.tolist() == tight.values.tolist()
    return image


def test_variants_for_a_rehearsal():
    assert (derived(MASK, Variant.PERFECT) == MASK).all()
    assert (derived(MASK, Variant.EMPTY) == 255).all()
    assert ((derived(MASK, Variant.INVERTED) == 0) == (MASK == 255)).all()
    ((y, x),) = np.argwhere(derived(MASK, Variant.NEAR) != MASK)
    assert MASK[y, x] == 255
    assert MASK[y, x - 1] != 255


def test_variants_of_an_empty_and_of_a_full_mask():
    empty, full = np.full_like(MASK, 255), np.zeros_like(MASK)
    assert (derived(empty, Variant.NEAR) == 255).all()
    assert (derived(empty, Variant.INVERTED) == 0).all()
    assert (derived(full, Variant.NEAR) == 0).all()
    assert (derived(full, Variant.INVERTED) == 255).all()


NUMBERS = "numbers of classes? Write the grey values of the format"


@pytest.mark.parametrize(
    ("kind", "values", "hint"),
    [
        (LabelMask({0: "lesion"}, 255), [0, 1], NUMBERS),
        (STRICT, [0, 1, 2], NUMBERS),
        (STRICT, [7, 255], None),
        (STRICT, [1, 200], None),
        # Here numbers of classes are what the format asks for.
        (LabelMask({1: "liver"}, 0), [0, 2], None),
    ],
)
def test_a_mask_of_class_numbers_is_recognised(kind, values, hint):
    pixels = np.resize(np.array(values, np.uint8), (4, 5))
    with pytest.raises(FormFault) as raised:
        read(kind, pixels, ".png")
    assert [fault.hint for fault in raised.value.faults] == [hint]
