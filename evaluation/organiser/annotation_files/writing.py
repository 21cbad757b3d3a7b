"""Annotations of other formats as the reference of a phase, or as a submission to it."""

import argparse
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluation.core.challenge import references_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import AnyField, Field, Files, Kind, TableRows
from evaluation.core.form import CaseForm, name_key
from evaluation.io.pixels import Size, values_in_words
from evaluation.io.tables import write_csv
from evaluation.metrics.crops import Crop
from evaluation.organiser.annotation_files.formats import Annotations, ImageAnnotation, read_annotations
from evaluation.organiser.submission_writer import write_case_file
from evaluation.phase import registry

# --- Annotations as the values of a phase: boxes, points and maps of labels ---

_TAKEN = {"box": ("box", "polygon", "run lengths"), "point": ("point",), "region": ("polygon", "run lengths")}
"""Which shapes become what; a polygon has a box around it, a box is no outline."""


def key_of_image(image: str) -> str:
    """Return the key of a case's name in the name of an image, which may have a path and an extension."""
    return name_key(image.replace("\\", "/").rpartition("/")[2])


def map_annotations(
    annotations: Annotations,
    kind: Kind,
    cases: Sequence[CaseForm],
    arguments: argparse.Namespace,
    with_confidence: bool,
) -> tuple[dict[str, Any], list[str]]:
    """Return the values as writers take them, by the cases that are named, and what became of all, in words.

    ``arguments``: of `cases` or `convert`. Raises `PhaseError` with all that cannot be mapped: unknown images
    and labels, shapes that have no place in the kind, crowds, sizes that differ, missing confidences.
    """
    found = _target_of(kind)
    assert found is not None  # as the caller has found
    (target, classes), renamed = found, _renamed(arguments.classes)
    is_any = target != "region" and not classes
    by_key = {name_key(case.name): case for case in cases}
    faults, used = [], Counter[tuple[str, str, str]]()
    unknown = [image for image in annotations.images if key_of_image(image) not in by_key]
    if unknown:
        faults.append(f"images that are no cases: {values_in_words(unknown)}")
    for image, size in annotations.images.items():
        case = by_key.get(key_of_image(image))
        if case is not None and size is not None and case.width and size != Size(case.width, case.height):
            faults.append(f"{image}: expected {Size(case.width, case.height)}, found {size}")
    has_shape = {one.place for one in annotations.found if one.shape in _TAKEN[target]}
    has_box = {one.place for one in annotations.found if one.shape == "box"}
    taken: dict[str, list[tuple[int, ImageAnnotation]]] = defaultdict(list)
    left_out: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    for one in annotations.found:
        if one.shape == "tag":
            left_out[f"the tag {one.label} of whole images"] += 1
            continue
        # An annotation of COCO may have a box beside its outline.
        if one.place in has_shape and one.shape not in _TAKEN[target]:
            continue
        if target == "box" and one.shape != "box" and one.place in has_box:
            continue
        if one.shape not in _TAKEN[target]:
            faults.append(f"{one.place}: expected {' or '.join(_TAKEN[target])}, found a {one.shape}")
        elif one.is_crowd and arguments.without_crowds:
            left_out["crowds (iscrowd)"] += 1
        elif one.is_crowd:
            faults.append(
                f"{one.place}: a crowd (iscrowd) has no counterpart; --without-crowds leaves it out"
            )
        elif with_confidence and one.confidence is None:
            faults.append(f"{one.place}: expected a confidence, found none")
        elif (position := _class_of(renamed.get(one.label, one.label), classes, is_any)) is None:
            labels[one.label] += 1
        elif position < 0:
            left_out[f"the label {one.label}"] += 1
        else:
            used[one.label, classes[position] if classes else target, one.shape] += 1
            taken[key_of_image(one.image)].append((position, one))
    for label, count in labels.items():
        wanted = ", ".join(classes) or "one"
        hint = f"--class {label}=CLASS maps it, {label}= leaves it out"
        faults.append(f"label {label} ({count}): expected a class ({wanted}); {hint}")
    if is_any and len({label for label, _, _ in used}) > 1 and not renamed:
        names = ", ".join(sorted({label for label, _, _ in used}))
        hint = "--class LABEL= leaves one out, LABEL=any keeps it"
        faults.append(f"labels: the phase has no classes, found {names}; {hint}")
    PhaseError.raise_all(faults)
    keys = dict.fromkeys(map(key_of_image, annotations.images))
    values = {}
    for key in keys:
        case = by_key[key]
        values[case.name] = kind.writable(_value(kind, target, taken[key], case), case)
    shapes = len({one.place for one in annotations.found if one.shape != "tag"})
    lines = [f"{annotations.format}: {shapes} shapes, {len(keys)} of {len(cases)} cases"]
    lines += [f"{label} ({shape}) → {name}: {count}" for (label, name, shape), count in sorted(used.items())]
    lines += [f"left out, {what}: {count}" for what, count in sorted(left_out.items())]
    return values, lines


def _renamed(choices: Sequence[str]) -> dict[str, str]:
    """Return the classes of the phase by labels, an empty one for labels that are left out."""
    pairs = [one.rpartition("=") for one in choices]
    PhaseError.raise_all([f"--class {name}: expected LABEL=CLASS" for _, sign, name in pairs if not sign])
    return {label: name for label, _, name in pairs}


def _target_of(kind: Kind) -> tuple[str, tuple[str, ...]] | None:
    """Return what the values of a kind consist of, and their classes; None where nothing can become one."""
    objects, regions = kind.objects, kind.regions
    is_flat = objects is not None and (objects.axes, objects.unit, objects.number) == (2, "pixels", "any")
    if objects is not None and is_flat and objects.value is not None and objects.form != "component":
        return objects.form, objects.classes
    if regions is not None and regions.value is not None and regions.dimensions == 2:
        return "region", regions.names
    return None


def _class_of(name: str, classes: Sequence[str], is_any: bool) -> int | None:
    """Return the position of a class, −1 for no name, None for an unknown one."""
    if not name:
        return -1
    if is_any:
        return 0
    return next((place for place, one in enumerate(classes) if one.casefold() == name.casefold()), None)


def _value(kind: Kind, target: str, taken: Sequence[tuple[int, ImageAnnotation]], case: CaseForm) -> Any:
    if target == "region":
        assert kind.regions is not None
        assert kind.regions.value is not None
        masks = np.zeros((len(kind.regions.names), case.height, case.width), np.bool_)
        for position, one in taken:
            masks[position] |= _mask(one, case)
        return kind.regions.value([Crop(mask[np.newaxis], (0, 0, 0)) for mask in masks], case)
    assert kind.objects is not None
    assert kind.objects.value is not None
    rows = [
        [position, 1.0 if one.confidence is None else one.confidence, *_corners(one, case)]
        for position, one in taken
    ]
    return kind.objects.value(np.array(rows, dtype=np.float64).reshape(-1, 6), case)


def _corners(one: ImageAnnotation, case: CaseForm) -> Iterator[float]:
    """Return the lower and the upper corner of what is annotated."""
    if one.shape == "run lengths":
        ys, xs = np.nonzero(_mask(one, case))
        points = (
            np.array([[xs.min(), ys.min()], [xs.max() + 1, ys.max() + 1]]) if len(xs) else np.zeros((2, 2))
        )
    else:
        points = np.concatenate([part.reshape(-1, 2) for part in one.parts])
    return iter([*points.min(axis=0).tolist(), *points.max(axis=0).tolist()])


def _mask(one: ImageAnnotation, case: CaseForm) -> NDArray[np.bool_]:
    """Return the pixels (y, x) of an outline or of run lengths."""
    try:
        from pycocotools import mask as coco
    except ImportError:
        raise PhaseError("polygons and run lengths need the extra `annotations` (pycocotools)") from None
    size = [case.height, case.width]
    if one.shape == "polygon" or isinstance(one.runs, str):
        if one.shape == "polygon":
            parts = coco.frPyObjects([part.ravel().tolist() for part in one.parts], *size)
            whole = coco.merge(parts)
        else:
            whole = {"size": size, "counts": str(one.runs).encode()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of its use of NumPy
            return np.asarray(coco.decode(whole), dtype=np.bool_)
    if sum(one.runs) != case.height * case.width or min(one.runs, default=0) < 0:
        expected = f"lengths whose sum is {case.height * case.width}"
        raise PhaseError(f"{one.place}: expected {expected}, found {sum(one.runs)}")
    flat = np.repeat(np.arange(len(one.runs)) % 2 == 1, one.runs)
    return flat.reshape(case.width, case.height).T


# --- Values written as a reference or handed on as a submission ---


def read_for(path: Path, cases: Iterable[CaseForm], coco: Path | None) -> Annotations:
    """Return annotations; ``cases`` give the sizes of images. Raises `PhaseError`."""
    sizes = {key_of_image(case.name): Size(case.width, case.height) for case in cases if case.width}
    return read_annotations(path, coco, sizes)


_Item = TypeVar("_Item", bound=AnyField)


def _chosen(fields: Sequence[_Item], kind_of: Callable[[_Item], Kind], name: str | None) -> _Item:
    fitting = [one for one in fields if _target_of(kind_of(one)) and name in (None, one.name)]
    if len(fitting) != 1:
        found = ", ".join(one.name for one in fitting) or "none"
        expected = "one field of boxes, points or labels in images"
        raise PhaseError(f"annotations: expected {expected}, found {found}; see --field")
    return fitting[0]


def write_reference(
    folder: Path, annotations: Annotations, cases: Sequence[CaseForm], arguments: argparse.Namespace
) -> tuple[str, ...]:
    """Write the reference of a phase, which must not exist, and return what became of the annotations.

    Raises `PhaseError` with all that cannot be mapped; nothing is written then.
    """
    references = references_of(registry.read_configuration(folder).tasks)
    item = _chosen(references, lambda one: one.reference.kind, arguments.field)
    kind, location = item.reference.kind, item.reference.location
    annotated, unnamed = _with_empty(annotations, cases, arguments.empty)
    values, lines = map_annotations(annotated, kind, cases, arguments, with_confidence=False)
    if isinstance(location, TableRows):
        files = [folder / location.files[0]]
    elif isinstance(location, Files):
        files = [folder / location.path(name) for name in values]
    else:
        expected = "a reference in files or rows of a table"
        raise PhaseError(f"{item.name}: expected {expected}, found columns of cases.csv")
    existing = [str(file.relative_to(folder)) for file in files if file.exists()]
    PhaseError.raise_all([f"{file}: exists already; nothing is overwritten" for file in existing])
    if isinstance(location, Files):
        for name, value in values.items():
            write_case_file(folder, kind, location, name, value, location.extensions[0])
    else:
        rows = [[name, *cells] for name, value in values.items() for cells in kind.write_rows(value)]
        write_csv(files[0], [location.key, *location.columns], rows)
    empty = [f"without annotations, so without objects: {values_in_words(unnamed)}"] if unnamed else []
    written = f"{files[0].relative_to(folder)}{' and others' * (len(files) > 1)}"
    return (*lines, *empty, f"written: {written}")


def _with_empty(
    annotations: Annotations, cases: Sequence[CaseForm], said_empty: bool
) -> tuple[Annotations, list[str]]:
    """Return annotations in which cases that they do not name are without objects, and these cases.

    Raises `PhaseError` where the format would name them, unless the organiser says that they are empty.
    """
    named = {key_of_image(image) for image in annotations.images}
    unnamed = [case.name for case in cases if name_key(case.name) not in named]
    if unnamed and annotations.names_empty and not said_empty:
        expected = f"every case in the annotations ({annotations.format})"
        hint = "--empty says that these have no objects"
        raise PhaseError(f"expected {expected}, found nothing of {values_in_words(unnamed)}; {hint}")
    return replace(annotations, images={**annotations.images, **dict.fromkeys(unnamed)}), unnamed


def submitted_values(
    path: Path, fields: Sequence[Field], cases: Sequence[CaseForm], arguments: argparse.Namespace
) -> tuple[Field, Mapping[str, object], list[str]]:
    """Return the field that annotations fill, its values by case, and what became of the annotations.

    Raises `PhaseError` with all that cannot be mapped.
    """
    item = _chosen(fields, lambda one: one.kind, arguments.field)
    asked = item.kind.objects is not None and item.kind.objects.with_confidence
    read = read_for(path, cases, arguments.coco)
    return item, *map_annotations(read, item.kind, cases, arguments, asked)
