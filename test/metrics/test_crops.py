import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from evaluation.io.handover import HandoverError, unpack_positions
from evaluation.metrics.crops import (
    EMPTY,
    Box,
    PackedVolume,
    content_of,
    crop,
    distinct_values,
    in_slabs,
    inside,
    packed_of,
    stack_of,
    together,
)

BACKGROUNDS = st.sampled_from([0, 7, 255])


def images(values):
    return arrays(
        np.uint8, array_shapes(min_dims=2, max_dims=2, max_side=30), elements=values, fill=st.just(255)
    )


@settings(max_examples=25)
@given(images(st.sampled_from([0, 7, 255])), BACKGROUNDS, st.booleans())
def test_crop_is_the_bounding_box_of_what_is_not_background(image, background, flipped):
    view = image[::-1, ::-1] if flipped else image
    cropped = crop(view, background)
    rows, columns = np.nonzero(view != background)
    if len(rows):
        assert cropped.corner == (rows.min(), columns.min())
        np.testing.assert_array_equal(
            cropped.values, view[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
        )
        assert np.shares_memory(cropped.values, image)
        copied = cropped.copy()
        assert not np.shares_memory(copied.values, image)
        assert copied.box == cropped.box
        np.testing.assert_array_equal(copied.values, cropped.values)
    else:
        assert (cropped.values.shape, cropped.corner) == ((0, 0), (0, 0))


@settings(max_examples=25)
@given(images(st.integers(0, 255)), st.integers(1, 20))
def test_distinct_values_are_those_of_numpy(image, repeats):
    image = image.repeat(repeats, axis=1)  # runs, as masks have them
    for view in (image, image[::-1, 1:], image.T):
        assert distinct_values(view) == tuple(np.unique(view).tolist())
    for position in (0, 1, 7, 8, 9, 1000, 1001, 1002):
        single = np.zeros((1, 1003), dtype=np.uint8)
        single[0, position] = 3
        assert distinct_values(single) == (0, 3)


@settings(max_examples=40)
@given(
    arrays(np.bool_, st.tuples(st.integers(1, 5), st.integers(1, 5))),
    st.sampled_from([np.bool_, np.uint8, np.float32, np.float64]),
)
def test_a_box_holds_everything_and_no_empty_border(mask, dtype):
    plane = mask.astype(dtype)
    cropped = content_of(plane)
    box = cropped.box
    rows, columns = np.nonzero(mask)
    if len(rows):
        assert box == Box((rows.min(), columns.min()), (rows.max() + 1, columns.max() + 1))
    else:
        assert box == EMPTY.box
        assert box.is_empty
    np.testing.assert_array_equal(cropped.whole(plane.shape), plane)
    np.testing.assert_array_equal(EMPTY.whole(plane.shape), 0 * plane)
    assert box.union(EMPTY.box) == EMPTY.box.union(box) == box
    if dtype in (np.float32, np.float64):
        assert content_of(np.where(mask, np.nan, 0).astype(dtype)).box == box


# Mostly zeros, so that boxes are smaller than their volumes.
VOLUMES = arrays(
    np.uint8, array_shapes(min_dims=3, max_dims=3, max_side=5), elements=st.sampled_from([0, 0, 0, 0, 1, 2])
)


def cropped(volume):
    return stack_of((crop(plane, 0) for plane in volume), np.uint8)


@given(VOLUMES)
def test_a_stack_is_the_smallest_box_of_the_volume(volume):
    found = cropped(volume)
    filled = np.argwhere(volume)
    if len(filled):
        assert found.corner == tuple(filled.min(axis=0))
        assert found.box.end == tuple(filled.max(axis=0) + 1)
    else:
        assert (found.values.shape, found.values.dtype, found.corner) == ((0, 0, 0), np.uint8, (0, 0, 0))
    assert found.within(found.box) is found.values  # the own box is not copied
    assert stack_of([crop(volume[0], 0)], np.float32).values.dtype == np.float32
    np.testing.assert_array_equal(found.whole(volume.shape), volume)


@given(VOLUMES, st.randoms(use_true_random=False))
def test_two_crops_in_one_box(volume, random):
    other = volume[::-1, :, ::-1] * random.randrange(2)
    boxes = together(cropped(volume), cropped(other))
    filled = np.argwhere(volume | other)
    start, end = (filled.min(axis=0), filled.max(axis=0) + 1) if len(filled) else ((0, 0, 0), (0, 0, 0))
    box = tuple(slice(first, last) for first, last in zip(start, end, strict=True))
    for found, whole in zip(boxes, (volume, other), strict=True):
        np.testing.assert_array_equal(found, whole[box])


@settings(max_examples=25)
@given(st.data())
def test_slabs_are_the_whole_box_in_pieces(data):
    """With few voxels a slab, so that small volumes have several: along z, and of one plane along y."""
    sides = st.tuples(st.integers(1, 1) | st.integers(1, 4), st.integers(1, 5), st.integers(1, 5))
    whole = np.zeros((2, *data.draw(sides)), np.uint8)
    whole[...] = data.draw(arrays(np.uint8, whole.shape, elements=st.integers(0, 1)))
    first, second = (stack_of([crop(plane, 0) for plane in one], np.uint8) for one in whole)
    slabs = list(in_slabs(first, second, slab_voxels=data.draw(st.integers(1, 30))))
    expected = together(first, second)
    axis = 0 if expected[0].shape[0] > 1 else 1
    for one, parts in zip(expected, zip(*slabs, strict=True), strict=True):
        np.testing.assert_array_equal(np.concatenate(parts, axis=axis), one)


@settings(max_examples=25)
@given(st.data())
def test_packed_pieces_are_the_volume_that_they_were_made_of(data):
    shape = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 20), st.integers(1, 20)))
    volume = data.draw(arrays(np.uint8, shape, elements=st.sampled_from([0, 0, 1, 2, 255])))
    side = data.draw(st.integers(1, 21))
    pieces = [
        (z, part.moved((top, left)))
        for z, plane in enumerate(volume)
        for top in range(0, shape[1], side)
        for left in range(0, shape[2], side)
        for part in [crop(plane[top : top + side, left : left + side], 0)]
    ]
    expected = stack_of([crop(plane, 0) for plane in volume], np.uint8)
    whole, packed = packed_of(pieces), packed_of(pieces, large_voxels=-1)
    of_slab = data.draw(st.integers(1, 300))
    slabs, expected_slabs = (list(in_slabs(one, one, slab_voxels=of_slab)) for one in (packed, expected))
    assert isinstance(packed, PackedVolume) == bool(volume.any())
    for found in (whole, packed):
        assert (found.box, found.any()) == (expected.box, bool(volume.any()))
        np.testing.assert_array_equal(found.values, expected.values)
        np.testing.assert_array_equal(found.where(lambda of: of == 2).values, expected.values == 2)
    mask = data.draw(arrays(np.uint8, shape, elements=st.sampled_from([0, 1])))
    counted = inside(packed, stack_of([crop(plane, 0) for plane in mask], np.uint8))
    np.testing.assert_array_equal(counted.whole(shape), volume * mask)
    for one, other in zip(slabs, expected_slabs, strict=True):
        np.testing.assert_array_equal(one, other)
    if isinstance(packed, PackedVolume):
        packed.check()
        read = unpack_positions([packed.table, packed.marks, packed.content], shape, 1)
        np.testing.assert_array_equal(read.values, np.minimum(expected.values, 1))


def test_forged_pieces_are_refused():
    pieces = [(0, crop(np.eye(9, dtype=np.uint8), 0)), (3, crop(np.ones((9, 9), np.uint8), 0))]
    packed = packed_of(pieces, large_voxels=-1)
    table, marks, content = packed.table, packed.marks, packed.content

    def changed(column, value):
        forged = table.copy()
        forged[1, column] = value
        return [forged, marks, content]

    forgeries = [
        *(changed(column, -1) for column in range(8)),
        *(changed(column, 1 << 40) for column in range(8)),
        *(changed(column, 0) for column in (3, 4, 5, 6)),
        changed(0, 4),
        changed(6, 9),
        changed(7, 0),
        [table[:, :7].copy(), marks, content],
        [table[:0].copy(), marks[:0], content[:0]],
        [table, marks[:-1], content],
        [table, marks, content[:-1]],
        [table, 0 * marks, content],
        [table.astype(np.int32), marks, content],
        [table, marks, "text"],
    ]
    for forged in forgeries:
        with pytest.raises(HandoverError):
            unpack_positions(forged, (4, 9, 9), 1)
