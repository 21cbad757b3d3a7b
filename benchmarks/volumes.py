"""Five organs in CT volumes of 512 × 512 × 200: Dice, Hausdorff distance (95 %) and surface Dice at 2 mm.

    python -m benchmarks.volumes [--cases 4] [--runs 5] [--slow]
    python -m benchmarks --only volumes

From arrays in memory, one process and one case: against google-deepmind/surface-distance, against SciPy's
transforms of cropped boxes (as MONAI computes them) and, with --slow, of whole volumes (as MetricsReloaded),
and against SimpleITK's filter (the Hausdorff distance only). Once for a prediction with a surface about a
voxel off, once for one that is displaced by centimetres and has holes.

As a whole process, for `.nii.gz` and compressed `.mha`: `evaluate` with two workers against the floor of only
decoding the same files with SimpleITK on two threads, and against that followed by surface-distance. For
four small volumes and Dice alone, against a plain script with SimpleITK's filter and, where it is installed,
against evalutils 0.4 (`pip install "evalutils<0.5" "setuptools<80"`), as its template does it.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import (
    Contest,
    benchmark_parser,
    evaluate_command,
    parse_or_run_part,
    rows_of,
    run_evaluation,
)

Positions = NDArray[np.uint8]
Figures = tuple[float, float, float]

ORGANS = {1: "liver", 2: "spleen", 3: "left_kidney", 4: "right_kidney", 5: "aorta"}
SHAPE = (200, 512, 512)
SPACING_MM = (2.5, 0.8, 0.8)
TOLERANCE_MM = 2.0
# Centre in voxels and diameters in mm, (z, y, x) each.
_ELLIPSOIDS = (
    ((100, 220, 170), (210, 190, 200)),
    ((120, 280, 380), (140, 80, 110)),
    ((80, 320, 330), (120, 70, 65)),
    ((80, 330, 200), (120, 70, 65)),
    ((100, 270, 265), (480, 30, 30)),
)
_NAME = "organs"
_PHASE = """\
name = "organs"
title = "Five organs"
submission = "archive"

[fields.organs]
kind = "label_map"
labels = { 1 = "liver", 2 = "spleen", 3 = "left_kidney", 4 = "right_kidney", 5 = "aorta" }

[tasks.organs.metrics]
dice = {}
hausdorff_95 = { metric = "hausdorff_distance", percentile = 95 }
surface_dice = { tolerance_mm = 2.0 }
"""


def main() -> None:
    """Make the sample, time all and print the tables."""
    parser = benchmark_parser(__doc__, cases=4, runs=5)
    parser.add_argument("--slow", action="store_true", help="also time what takes minutes")
    if (arguments := parse_or_run_part(parser, _PARTS)) is None:
        return
    reference = _organs(0)
    for title, prediction in (("a voxel off", _organs(1)), ("centimetres off", _poor(reference))):
        _time_arrays(title, prediction, reference, arguments.runs, arguments.slow)
    rows_of(_contests_of_a_few(arguments.cases), arguments.runs)
    rows_of(_contests_of_files(arguments.cases), arguments.runs)


def contests(cases: int = 4) -> Iterator[Contest]:
    """Yield the contests of both formats from files, and of both predictions from arrays."""
    yield from _contests_of_files(cases)
    yield from _contests_of_a_few(4)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        reference = _organs(0)
        np.save(folder / "reference.npy", reference)
        for title, prediction in (("a voxel off", _organs(1)), ("centimetres off", _poor(reference))):
            np.save(folder / "prediction.npy", prediction)
            part = [sys.executable, "-m", "benchmarks.volumes", "--folder", temporary, "--only"]
            commands = {
                "Dice, distances, surface Dice": [*part, "arrays"],
                "rival: surface-distance": [*part, "arrays-rival"],
            }
            yield Contest(f"five organs, {title}, three times from arrays", commands)


def _organs(seed: int) -> Positions:
    """Return ellipsoids with surface waves of a few mm, which depend on the seed."""
    from scipy.ndimage import zoom

    coarse = np.random.default_rng(seed).normal(size=(9, 17, 17))
    waves = zoom(coarse, np.divide(SHAPE, coarse.shape), order=1) * (0.08 if seed else 0.0)
    same = zoom(np.random.default_rng(0).normal(size=(13, 21, 21)), np.divide(SHAPE, (13, 21, 21)), order=1)
    values = np.zeros(SHAPE, dtype=np.uint8)
    grid = np.ogrid[tuple(slice(0, size) for size in SHAPE)]
    for label, (centre, diameters) in enumerate(_ELLIPSOIDS, 1):
        radius = sum(
            ((axis - middle) * spacing / (diameter / 2)) ** 2
            for axis, middle, spacing, diameter in zip(grid, centre, SPACING_MM, diameters, strict=True)
        )
        values[radius + 0.15 * same + waves < 1] = label
    return values


def _poor(reference: Positions) -> Positions:
    """Return a prediction that is displaced by 1 to 2 cm and has holes."""
    from scipy.ndimage import zoom

    coarse = np.random.default_rng(2).normal(size=(20, 26, 26))
    values = np.roll(reference, (5, 15, -12), (0, 1, 2))
    values[zoom(coarse, np.divide(SHAPE, coarse.shape), order=1) > 0.9] = 0
    return values


def _time_arrays(title: str, prediction: Positions, reference: Positions, runs: int, slow: bool) -> None:
    """Print how long every way takes from arrays in memory, timed in turn after a warm-up round."""
    ways: dict[str, Callable[[Positions, Positions], Any]] = {
        "this package": _ours,
        "surface-distance": _by_surface_distance,
        "SciPy, cropped (as MONAI)": _by_scipy_cropped,
    }
    if slow:
        ways |= {
            "SciPy, whole (as MetricsReloaded)": _by_scipy_whole,
            "SimpleITK, Hausdorff only": _by_simpleitk,
        }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    found = {name: way(prediction, reference) for name, way in ways.items()}
    for _ in range(runs):
        for name, way in ways.items():
            started = time.perf_counter()
            way(prediction, reference)
            seconds[name].append(time.perf_counter() - started)
    np.testing.assert_allclose(found["this package"], found["surface-distance"], rtol=1e-6)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    print(f"from arrays in memory, prediction {title} (mean Dice {np.mean(found['this package'], 0)[0]:.3f})")
    print(f"{'':<44} {'seconds':>8} {'ours / it':>10}")
    for name, median in medians.items():
        print(f"{name:<44} {median:>8.2f} {medians['this package'] / median:>10.2f}")


def _ours(prediction: Positions, reference: Positions) -> list[Figures]:
    from evaluation.metrics.label_surfaces import compare_surfaces
    from evaluation.metrics.segmentation import count_label_overlap, label_boxes
    from evaluation.metrics.segmentation import dice_of_counts as dice

    (box,) = label_boxes(prediction.clip(max=1), reference.clip(max=1), 1)
    maps = prediction[box], reference[box]
    dices = dice(count_label_overlap(*maps, len(ORGANS)), both_empty=1.0)
    compared = []
    for label, found in enumerate(label_boxes(*maps, len(ORGANS)), 1):
        made, true = (of[found or (slice(0),) * 3] == label for of in maps)
        compared.append(compare_surfaces(made, true, SPACING_MM, "elements"))
    return [
        (float(overlap), label.hausdorff_distance(95), label.surface_dice(TOLERANCE_MM))
        for overlap, label in zip(dices, compared, strict=True)
    ]


def _by_surface_distance(prediction: Positions, reference: Positions) -> list[Figures]:
    from surface_distance import metrics  # type: ignore[import-untyped]

    figures = []
    for label in ORGANS:
        masks = reference == label, prediction == label
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of the SciPy names that it uses
            distances = metrics.compute_surface_distances(*masks, SPACING_MM)
        figures.append(
            (
                float(metrics.compute_dice_coefficient(*masks)),
                float(metrics.compute_robust_hausdorff(distances, 95)),
                float(metrics.compute_surface_dice_at_tolerance(distances, TOLERANCE_MM)),
            )
        )
    return figures


def _by_scipy_cropped(prediction: Positions, reference: Positions) -> list[Figures]:
    from scipy.ndimage import find_objects

    figures = []
    for label in ORGANS:
        masks = prediction == label, reference == label
        (box,) = find_objects((masks[0] | masks[1]).view(np.uint8))
        figures.append(_by_scipy(masks[0][box], masks[1][box]))
    return figures


def _by_scipy_whole(prediction: Positions, reference: Positions) -> list[Figures]:
    return [_by_scipy(prediction == label, reference == label) for label in ORGANS]


def _by_scipy(prediction: NDArray[np.bool_], reference: NDArray[np.bool_]) -> Figures:
    """Return the figures of one organ by transforms: of surface voxels, not of surface elements."""
    from scipy.ndimage import binary_erosion, distance_transform_edt

    first, second = (mask & ~binary_erosion(mask) for mask in (prediction, reference))
    forth = distance_transform_edt(~second, SPACING_MM)[first]
    back = distance_transform_edt(~first, SPACING_MM)[second]
    near = np.count_nonzero(forth <= TOLERANCE_MM) + np.count_nonzero(back <= TOLERANCE_MM)
    dice = 2 * np.count_nonzero(prediction & reference) / (prediction.sum() + reference.sum())
    farthest = max(np.percentile(forth, 95), np.percentile(back, 95))
    return float(dice), float(farthest), float(near / (forth.size + back.size))


def _by_simpleitk(prediction: Positions, reference: Positions) -> list[float]:
    import SimpleITK

    distances = []
    for label in ORGANS:
        images = [SimpleITK.GetImageFromArray((a == label).view(np.uint8)) for a in (prediction, reference)]
        for image in images:
            image.SetSpacing(SPACING_MM[::-1])
        hausdorff = SimpleITK.HausdorffDistanceImageFilter()
        hausdorff.Execute(*images)
        distances.append(float(hausdorff.GetHausdorffDistance()))
    return distances


def _contests_of_files(cases: int) -> Iterator[Contest]:
    for extension in (".nii.gz", ".mha"):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            _write_phase(folder, extension, cases)
            part = [sys.executable, "-m", "benchmarks.volumes", "--folder", temporary, "--only"]
            commands = {
                "evaluate (2 workers, intervals)": evaluate_command(folder, _NAME),
                "floor: decode with SimpleITK, two threads": [*part, "read"],
                "rival: decode, surface-distance, two processes": [*part, "rival"],
            }
            yield Contest(f"five organs in {cases} CT volumes, {extension}", commands)


def _contests_of_a_few(cases: int) -> Iterator[Contest]:
    """Yield the contest of small volumes: every sixth voxel of each axis."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        _write_phase(folder, ".nii.gz", cases, step=6, metrics="dice = {}")
        part = [sys.executable, "-m", "benchmarks.volumes", "--folder", temporary, "--only"]
        ours = evaluate_command(folder, _NAME)
        commands = {
            "evaluate": ours,
            "evaluate (one process, no isolation)": [*ours, "--workers", "0"],
            "rival: a plain script with SimpleITK's filter": [*part, "script"],
        }
        if _has_evalutils():
            commands["rival: evalutils 0.4"] = [*part, "evalutils"]
        yield Contest(f"a few small cases: Dice of five organs in {cases} volumes of 86 × 86 × 34", commands)


def _has_evalutils() -> bool:
    """Return whether evalutils is one of the versions with classes for evaluations."""
    with suppress(ModuleNotFoundError):
        return find_spec("evalutils.evalutils") is not None
    return False


def _dice_by_filter(prediction: Path, reference: Path) -> dict[str, float]:
    import SimpleITK

    overlap = SimpleITK.LabelOverlapMeasuresImageFilter()
    overlap.Execute(SimpleITK.ReadImage(str(reference)), SimpleITK.ReadImage(str(prediction)))
    return {name: overlap.GetDiceCoefficient(label) for label, name in ORGANS.items()}


def _script(folder: Path) -> None:
    rows = [_dice_by_filter(*paths) for paths in _pairs(folder)]
    means = {organ: statistics.mean(row[organ] for row in rows) for organ in ORGANS.values()}
    (folder / "script.json").write_text(json.dumps({"dice": means}), encoding="utf-8")


def _evalutils(folder: Path) -> None:
    from evalutils.evalutils import ClassificationEvaluation  # type: ignore[import-not-found]
    from evalutils.io import SimpleITKLoader  # type: ignore[import-not-found]
    from evalutils.validators import (  # type: ignore[import-not-found]
        NumberOfCasesValidator,
        UniquePathIndicesValidator,
    )

    class Evaluation(ClassificationEvaluation):  # type: ignore[misc]
        def score_case(self, *, idx: int, case: Any) -> dict[str, float]:
            return _dice_by_filter(case["path_prediction"], case["path_ground_truth"])

    pairs = _pairs(folder)
    Evaluation(
        file_loader=SimpleITKLoader(),
        validators=(NumberOfCasesValidator(num_cases=len(pairs)), UniquePathIndicesValidator()),
        predictions_path=pairs[0][0].parent,
        ground_truth_path=pairs[0][1].parent,
        output_file=folder / "evalutils.json",
    ).evaluate()


def _write_phase(folder: Path, extension: str, cases: int, step: int = 1, metrics: str = "") -> None:
    """Write the phase and a submission of every ``step``-th voxel, with all metrics or the given ones."""
    import SimpleITK

    phase, submission = folder / "ground-truth" / _NAME, folder / "submissions" / "good"
    for target, whole in ((phase, _organs(0)), (submission, _organs(1))):
        values = whole[::step, ::step, ::step]
        image = SimpleITK.GetImageFromArray(values)
        image.SetSpacing(SPACING_MM[::-1])
        (target / _NAME).mkdir(parents=True)
        first = target / _NAME / f"case0{extension}"
        SimpleITK.WriteImage(image, str(first), useCompression=True)
        for number in range(1, cases):
            shutil.copy(first, target / _NAME / f"case{number}{extension}")
    keys = f"{_PHASE.partition('dice')[0]}{metrics}" if metrics else _PHASE
    (phase / "phase.toml").write_text(keys, encoding="utf-8")
    depth, height, width = values.shape
    spacing = " ".join(map(str, SPACING_MM[::-1]))
    rows = [f"case{number},{width},{height},{depth},{spacing},," for number in range(cases)]
    header = "name,width,height,depth,spacing_mm,origin_mm,direction"
    (phase / "cases.csv").write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    run_evaluation("seal", str(phase))


def _pairs(folder: Path) -> list[tuple[Path, Path]]:
    reference = folder / "ground-truth" / _NAME / _NAME
    return [
        (path, reference / path.name) for path in sorted((folder / "submissions" / "good" / _NAME).iterdir())
    ]


def _read(folder: Path) -> None:
    import SimpleITK

    SimpleITK.ProcessObject.SetGlobalDefaultNumberOfThreads(1)

    def read(paths: tuple[Path, Path]) -> None:
        for path in paths:
            SimpleITK.ReadImage(str(path))

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(read, _pairs(folder)))


def _rival(folder: Path) -> None:
    with ProcessPoolExecutor(2) as processes:
        list(processes.map(_score_by_surface_distance, _pairs(folder)))


def _score_by_surface_distance(paths: tuple[Path, Path]) -> list[Figures]:
    import SimpleITK

    prediction, reference = (SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path))) for path in paths)
    return _by_surface_distance(prediction, reference)


def _arrays(way: Callable[[Positions, Positions], Any], folder: Path) -> None:
    """Compare the arrays of a folder three times."""
    prediction, reference = (np.load(folder / f"{name}.npy") for name in ("prediction", "reference"))
    for _ in range(3):
        way(prediction, reference)


_PARTS: dict[str, Callable[[Path], None]] = {
    "read": _read,
    "rival": _rival,
    "script": _script,
    "evalutils": _evalutils,
    "arrays": partial(_arrays, _ours),
    "arrays-rival": partial(_arrays, _by_surface_distance),
}


if __name__ == "__main__":
    main()
