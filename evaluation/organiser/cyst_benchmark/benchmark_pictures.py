"""B-scans of a cyst benchmark with the marks of annotators and their combinations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageColor, ImageDraw

from evaluation.charts.chart import SKY, VERMILION, YELLOW
from evaluation.core.fault import PhaseError
from evaluation.io.json_files import read_json
from evaluation.metrics.crops import Box, box_of_content
from evaluation.organiser.cyst_benchmark import combination, data, transform
from evaluation.organiser.cyst_benchmark.accuracy import ValuedBScan, read_accuracy, valued
from evaluation.organiser.cyst_benchmark.assignment import read_assignment
from evaluation.organiser.report.overlays import data_uri, file_of
from evaluation.organiser.report.page import Gallery, Picture

# --- Confidences painted on a B-scan, and panels with titles in rows ---

RAMP = ((0.0, SKY), (0.5, YELLOW), (1.0, VERMILION))
"""Colours of confidences, interpolated between them."""

_COVER = 0.6
_MARGIN = 12
_WIDTH, _GAP, _TITLE = 320, 8, 22
_PAPER, _INK = (32, 36, 40), (236, 236, 236)

Colours = NDArray[np.uint8]


def around(box: Box, shape: Sequence[int]) -> tuple[slice, ...]:
    """Return a box with a margin, as slices of an image of the given shape."""
    return tuple(
        slice(max(0, part.start - _MARGIN), min(size, part.stop + _MARGIN))
        for part, size in zip(box.slices, shape, strict=True)
    )


def painted(image: NDArray[np.generic], confidence: NDArray[np.float64], brightest: float) -> Colours:
    """Return a grey B-scan (y, x) painted with confidences above 0, as colours (y, x, 3).

    ``brightest``: the intensity that is white.
    """
    grey = np.clip(image.astype(np.float64) / max(brightest, 1e-12), 0, 1) * 255
    colours = np.repeat(grey[..., np.newaxis], 3, axis=2)
    marked = confidence > 0
    steps = [step for step, _ in RAMP]
    ends = np.array([ImageColor.getrgb(name) for _, name in RAMP], dtype=np.float64)
    mixed = np.stack([np.interp(confidence[marked], steps, of_channel) for of_channel in ends.T], axis=1)
    colours[marked] = (1 - _COVER) * colours[marked] + _COVER * mixed
    return np.round(colours).astype(np.uint8)


def in_rows(panels: Sequence[tuple[str, Colours]], columns: int) -> Image.Image:
    """Return panels of one size with titles, in rows of a given length; pixels are square, as in a viewer."""
    rows = -(-len(panels) // columns)
    height, width = panels[0][1].shape[:2]
    size = (_WIDTH, max(1, round(_WIDTH * height / width)))
    step_x, step_y = size[0] + _GAP, size[1] + _TITLE + _GAP
    whole = Image.new("RGB", (columns * step_x - _GAP, rows * step_y - _GAP), _PAPER)
    pen = ImageDraw.Draw(whole)
    for position, (title, colours) in enumerate(panels):
        left, top = position % columns * step_x, position // columns * step_y
        pen.text((left + 4, top + 4), title, fill=_INK)
        whole.paste(Image.fromarray(colours).resize(size, Image.Resampling.NEAREST), (left, top + _TITLE))
    return whole


# --- B-scans with both runs of every annotator and with all combinations (the paper's Figs. 8 to 12) ---

_COLUMNS = 4


@dataclass(frozen=True)
class ShownBScan:
    """A B-scan of a vendor, and how often an annotator missed a cyst of the supervisor in it."""

    vendor: str
    b_scan: data.AnnotatedBScan
    values: ValuedBScan
    missed: int


def run_gallery(b_scans: Sequence[ShownBScan]) -> Gallery:
    """Return B-scans with every annotator's marks in each run, the supervisor first (Fig. 8)."""
    pictures = []
    for shown in b_scans:
        levels = shown.b_scan.levels
        panels = [("original", _painted(shown, np.zeros(shown.b_scan.image.shape)))]
        for name in sorted({name for name, _ in levels}, key=lambda name: (name != data.SUPERVISOR, name)):
            panels += [
                (f"{name}, {run}", _painted(shown, levels[name, run] / data.CONFIDENCES[-1]))
                for run in data.RUNS
            ]
        pictures.append(_shown(shown, panels, 1 + len(data.RUNS), "each annotated twice"))
    note = "Confidence 5 of an annotator is 1. The same B-scans as under Combinations. Fig. 8 of the paper."
    return Gallery("First and second annotations", tuple(pictures), _legend(), note, large=True)


def b_scan_gallery(b_scans: Sequence[ShownBScan], work: Path) -> Gallery:
    """Return B-scans with the means of both runs and with all combinations (Figs. 9 to 12).

    ``work``: the tables of `fuse cysts`, up to the accuracy. Raises `PhaseError`.
    """
    accuracies = read_accuracy(work)
    pictures = []
    for shown in b_scans:
        named = [
            ("original", np.zeros_like(shown.values.mean(data.SUPERVISOR))),
            (data.SUPERVISOR, shown.values.mean(data.SUPERVISOR)),
        ]
        for members in combination.groups_of_annotators(sorted(accuracies)):
            methods = combination.combined_values(shown.values, members, accuracies)
            named += [("+".join(members), methods[one]) for one in methods if one != combination.AVERAGE]
        panels = []
        for name, values in named:
            confidence = np.zeros(shown.b_scan.image.shape)
            confidence[shown.values.box.slices] = values
            panels.append((name, _painted(shown, confidence)))
        missed = f"single annotators missed cysts of the supervisor, in all {shown.missed}"
        pictures.append(_shown(shown, panels, _COLUMNS, missed))
    note = (
        "Means of both runs; combinations by Eq. 4. Of every vendor, the B-scan in which annotators missed "
        "most of the supervisor's cysts."
    )
    return Gallery("B-scans with their annotations", tuple(pictures), _legend(), note, large=True)


def chosen_b_scans(folder: Path, work: Path) -> list[ShownBScan]:
    """Return each vendor's B-scan with the most missed cysts, the first of equal ones."""
    best: dict[str, ShownBScan] = {}
    for shown in _every_b_scan(folder, work):
        if shown.vendor not in best or shown.missed > best[shown.vendor].missed:
            best[shown.vendor] = shown
    return [best[vendor] for vendor in sorted(best)]


def _every_b_scan(folder: Path, work: Path) -> Iterator[ShownBScan]:
    strata = data.read_strata(folder)
    evaluation_set = data.open_evaluation_set(folder, strata, 0)
    scale, measured = transform.read_scale(work, _interval(work)), transform.read_distinctions(work)
    for b_scan in evaluation_set:
        values = valued(b_scan, scale, measured)
        true = combination.marked_by(values, (data.SUPERVISOR,))
        marked = (combination.marked_by(values, (name,)) for name in evaluation_set.annotators)
        counts = [combination.count_cysts(of_annotator, true) for of_annotator in marked]
        missed = sum(found.cysts - found.found for found in counts)
        yield ShownBScan(strata[b_scan.volume].vendor, b_scan, values, missed)


def _painted(shown: ShownBScan, confidence: NDArray[np.float64]) -> Colours:
    """Return the surroundings of the marks of a B-scan, with confidences everywhere."""
    image = shown.b_scan.image
    window = around(shown.values.box, image.shape)
    return painted(image[window], confidence[window], shown.b_scan.intensities.highest)


def _shown(shown: ShownBScan, panels: Sequence[tuple[str, Colours]], columns: int, text: str) -> Picture:
    volume, number = shown.b_scan.volume, shown.b_scan.b_scan
    caption = f"{shown.vendor}, {volume}, B-scan {number}: {text}"
    return _picture(volume, number, panels, columns, caption)


def _picture(
    volume: str, number: int, panels: Sequence[tuple[str, Colours]], columns: int, caption: str
) -> Picture:
    alternative = f"B-scan {number} of {volume}: {', '.join(name for name, _ in panels)}"
    source = data_uri("png", file_of(in_rows(panels, columns), "PNG", optimize=True))
    return Picture(volume, source, caption, alternative)


def _legend() -> tuple[tuple[str, str], ...]:
    return tuple((colour, f"confidence {confidence:g}") for confidence, colour in RAMP)


def _interval(work: Path) -> transform.Interval:
    """Return the interval behind the accuracies."""
    path = work / "report.json"
    try:
        found = read_json(path)["accuracy"]["interval"]
    except (FileNotFoundError, KeyError, TypeError):
        raise PhaseError(f"{path}: expected the section of the step accuracy, found none") from None
    if found not in transform.EVERY_INTERVAL:
        raise PhaseError(f"{path}: expected one of {', '.join(transform.EVERY_INTERVAL)}, found {found!r}")
    return "cyst" if found == "cyst" else "level"


# --- B-scans of the built benchmark: the annotators of a part and their combination (Fig. 13) ---

_CONFIDENCE = "confidence"


def part_gallery(folder: Path, work: Path, phase: Path) -> Gallery:
    """Return the B-scan with most combined marks of the first volume of every vendor.

    ``folder``: the input of `fuse cysts`; ``work``: its tables; ``phase``: the folder that it built. Raises
    `PhaseError`.
    """
    assigned, strata = read_assignment(work), data.read_strata(folder)
    first = {stratum.vendor: name for name, stratum in sorted(strata.items(), reverse=True)}
    combined, images = data.scans_in(phase / _CONFIDENCE), data.scans_in(folder / data.IMAGES)
    pictures = []
    for vendor, volume in sorted(first.items()):
        places = {name: folder / combination.ANNOTATIONS / name for name in assigned[volume]}
        annotators = {name: _of(data.scans_in(place), volume, place) for name, place in places.items()}
        whole = _of(combined, volume, phase / _CONFIDENCE)
        # The first of the B-scans with most marked pixels.
        number = 1 + int(np.argmax([np.count_nonzero(plane) for plane in whole.planes()]))
        found = {name: scan.chosen([number])[number] for name, scan in annotators.items()}
        scan = _of(images, volume, folder / data.IMAGES)
        image, brightest = scan.chosen([number])[number], scan.intensities().highest
        values = [("original", np.zeros(image.shape))]
        values += [(name, plane / data.CONFIDENCES[-1]) for name, plane in found.items()]
        values.append((" + ".join(annotators), whole.chosen([number])[number].astype(np.float64)))
        box = box_of_content(np.logical_or.reduce([plane > 0 for _, plane in values]))
        whole_image = Box(0, image.shape[0], 0, image.shape[1])
        window = around(whole_image if box.is_empty else box, image.shape)
        panels = [(name, painted(image[window], plane[window], brightest)) for name, plane in values]
        caption = f"{vendor}, {volume}, B-scan {number}"
        pictures.append(_picture(volume, number, panels, len(panels), caption))
    note = "Of the first volume of every vendor, the B-scan with most combined marks: both annotators of its "
    note += "part, confidence 5 as 1, and their combination. Fig. 13 of the paper."
    return Gallery("The benchmark", tuple(pictures), _legend(), note, large=True)


def _of(scans: dict[str, data.Scan], volume: str, folder: Path) -> data.Scan:
    if volume not in scans:
        raise PhaseError(f"{folder}/{volume}: is missing")
    return scans[volume]
