"""Makes the small phases and submissions of the golden figures, once: `input.tar.xz` in the folder of each.

They are kept, so that a change of what makes samples changes no golden figure. Nothing here but templates,
and the made-up cases of a program without a sample of its own, comes from the package: files are read and
written by NumPy, Pillow and SimpleITK.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import shutil
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK
from PIL import Image

from test import started
from test.golden.sources import BUNDLED, EXAMPLES, NEW, PROGRAMS, TEAMS, Source
from test.repository import REPOSITORY

CASES = 12
Random = np.random.Generator
Table = list[list[str]]


def make(source: Source, folder: Path, archive: Path) -> None:
    """Write an archive with `phase`, without its `phase.toml`, and `teams`.

    ``folder``, which is empty, is for what lies between.
    """
    _BEGIN[source.of](source, folder)
    phase, ordinary = folder / "phase", folder / "teams" / TEAMS[0]
    ordinary.parent.mkdir()
    (folder / "submission").rename(ordinary)
    if source.of in (NEW, PROGRAMS):
        _enrich(phase, ordinary)
        _perturb(ordinary, np.random.Generator(np.random.PCG64(1)), 1)
    names = [row[0] for row in _rows(phase / "cases.csv")[1:]]
    other, faulty = (folder / "teams" / name for name in TEAMS[1:])
    shutil.copytree(ordinary, other)
    _perturb(other, np.random.Generator(np.random.PCG64(2)), 2)
    shutil.copytree(ordinary, faulty)
    _spoil(faulty, names)
    (phase / "phase.toml").unlink()
    _coarsen(folder)
    if source.of == BUNDLED:  # both lie in the repository
        shutil.rmtree(phase)
        shutil.rmtree(ordinary)
    with tarfile.open(archive, "w:xz") as written:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
            entry.size = path.stat().st_size
            with path.open("rb") as file:
                written.addfile(entry, file)


def _begin_bundled(source: Source, folder: Path) -> None:
    shutil.copytree(REPOSITORY / "ground-truth" / source.name, folder / "phase")
    shutil.copytree(REPOSITORY / "test" / "input" / source.name, folder / "submission")


def _begin_example(source: Source, folder: Path) -> None:
    place = source.configuration.with_name("sample.py")
    if not place.exists():
        _begin_program(source, folder)
        return
    specification = importlib.util.spec_from_file_location(f"sample_{source.name}", place)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    module.write_sample(folder, CASES)


def _begin_program(source: Source, folder: Path) -> None:
    from evaluation.organiser.starter.repository import write_sample

    (folder / "phase").mkdir()
    shutil.copy(source.configuration, folder / "phase" / "phase.toml")
    write_sample(folder / "phase", folder / "submission")


def _begin_template(source: Source, folder: Path) -> None:
    done = started.run("new", folder / "new", "--like", source.name)
    assert done.returncode == 0, done.stderr
    for name in ("phase", "submission"):
        (folder / "new" / name).rename(folder / name)
    shutil.rmtree(folder / "new")


_BEGIN: dict[str, Callable[[Source, Path], None]] = {
    BUNDLED: _begin_bundled,
    EXAMPLES: _begin_example,
    PROGRAMS: _begin_program,
    NEW: _begin_template,
}


def _rows(path: Path) -> Table:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def _write_rows(path: Path, rows: Table) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


# --- More in a reference: structures of several cases in one ---


def _enrich(phase: Path, submission: Path) -> None:
    """Give each case the rows and the labels of its neighbours too; made-up cases hold one or two objects."""
    for root in (phase, submission):
        for path in sorted(root.glob("*.csv")):
            rows = _rows(path)
            if (
                path.name != "cases.csv"
                and len({row[0] for row in rows}) < len(rows)
                and "name" not in rows[0][1:]
            ):
                _write_rows(path, [rows[0], *_with_neighbours(rows[1:])])
        for place in sorted({path.parent for path in root.rglob("*") if _is_image(path)}):
            images = [path for path in sorted(place.iterdir()) if _is_image(path)]
            arrays = [_read_image(path) for path in images]
            for number, path in enumerate(images):
                array = arrays[number].copy()
                if not _is_of_labels(array):  # made-up noise: blocks of a value take less space
                    coarse = array[..., ::4, ::4].repeat(4, -1).repeat(4, -2)
                    _write_image(path, coarse[..., : array.shape[-2], : array.shape[-1]])
                else:
                    for further in (arrays[(number + step) % len(arrays)] for step in (1, 3)):
                        array = np.where(array == _background(array), further, array)
                    # A label lacks in some cases, and more often in predictions.
                    if number % 4 == (0 if root == phase else 1):
                        array[array == array.max()] = _background(array)
                    _write_image(path, array)


def _with_neighbours(rows: Table) -> Iterator[list[str]]:
    names = list(dict.fromkeys(row[0] for row in rows))
    for number, name in enumerate(names):
        near = [names[(number + step) % len(names)] for step in range(4)]
        yield from ([name, *row[1:]] for other in near for row in rows if row[0] == other)


# --- Other quality ---


def _perturb(submission: Path, random: Random, amount: int) -> None:
    """Change the values of a submission as a worse algorithm would; ``amount``: in pixels."""
    for path in sorted(path for path in submission.rglob("*") if path.is_file()):
        if path.suffix == ".csv":
            header, *rows = _rows(path)
            _write_rows(path, [header, *_changed_rows(header, rows, random, amount)])
        elif path.suffix == ".txt":
            lines = [line for line in path.read_text().splitlines() if random.random() < 1 - 0.1 * amount]
            path.write_text("".join(f"{line}\n" for line in lines))
        elif path.suffix == ".json" and path.name != "predictions.json":
            path.write_text(json.dumps(_changed_json(json.loads(path.read_text()), random, amount)))
        elif path.suffix == ".npz":
            with np.load(path) as found:
                fields = {name: found[name] * np.float32(1 - 0.1 * amount) for name in found.files}
            np.savez_compressed(path, **fields)
        elif _is_image(path):
            array = _read_image(path)
            _write_image(path, (_displaced if _is_of_labels(array) else _noisy)(array, random, amount))


def _changed_rows(header: list[str], rows: Table, random: Random, amount: int) -> Table:
    changed = [list(row) for row in rows]
    # Most lie nearly where they should, others beyond the radius of any challenge.
    reach = np.where(random.random(len(rows)) < 0.6, 0.001, amount)
    moved = {axis: random.normal(0, 1, len(rows)) * reach for axis in "xyz"}
    for position, name in enumerate(header[1:], start=1):
        cells = [row[position] for row in rows]
        try:
            values = np.array(cells, float)
        except ValueError:
            if name in ("class", "label", "step", "grade", "category"):
                others = random.permutation(len(cells))
                for row in range(len(cells)):
                    if random.random() < 0.1 * amount:
                        changed[row][position] = cells[others[row]]
            continue
        axis = name.lower().removeprefix("fovea_").removeprefix("coord")[:1]
        if set(cells) <= {"0", "1"} or (name == header[-1] and set(cells) <= set("0123456789")):
            swapped = random.permutation(len(cells))
            for row in range(len(cells)):
                if random.random() < 0.1 * amount:
                    changed[row][position] = cells[swapped[row]]
        elif values.min() >= 0 and values.max() <= 1:
            noisy = (values + random.normal(0, 0.12 * amount, len(values))).clip(0.001, 0.999)
            for row, value in enumerate(noisy):
                changed[row][position] = f"{value:.3f}"
        else:
            change = moved.get(axis)
            if change is None:
                change = random.normal(0, 0.05 * amount * values.std(), len(values))
            for row, value in enumerate(values + change):
                changed[row][position] = f"{max(value, 0.01) if values.min() >= 0 else value:.3f}"
    return changed


def _changed_json(value: Any, random: Random, amount: int) -> Any:
    if isinstance(value, bool):
        return value ^ (random.random() < 0.1 * amount)
    if isinstance(value, float) and 0 <= value <= 1:
        return round(float(np.clip(value + random.normal(0, 0.12 * amount), 0, 1)), 3)
    if isinstance(value, list):
        return [_changed_json(item, random, amount) for item in value]
    if not isinstance(value, dict):
        return value
    step = random.normal(0, 0.02 * amount, 2)
    changed = {}
    for name, item in value.items():
        if name in ("point", "seed_point"):
            changed[name] = _moved(item, step)
        elif name in ("corners", "path_points"):
            changed[name] = [_moved(at, step) for at in item]
        elif name == "version":
            changed[name] = item
        else:
            changed[name] = _changed_json(item, random, amount)
    return changed


def _moved(at: list[float], step: np.ndarray) -> list[float]:
    return [*(max(round(value + float(by), 4), 0) for value, by in zip(at[:2], step, strict=True)), *at[2:]]


def _displaced(array: np.ndarray, random: Random, amount: int) -> np.ndarray:
    """Return labels displaced by some pixels, and ragged along their border."""
    background = _background(array)
    moved = array
    for axis in (-1, -2):
        step = int(random.integers(-amount, amount + 1))
        moved = np.roll(moved, step, axis)
        edge = slice(None, step) if step > 0 else slice(step or array.shape[axis], None)
        np.moveaxis(moved, axis, 0)[edge] = background
    border = np.zeros(array.shape, bool)
    for axis in (-1, -2):
        border |= (moved != np.roll(moved, 1, axis)) | (moved != np.roll(moved, -1, axis))
    return np.where(border & (random.random(array.shape) < 0.3), background, moved)


def _noisy(array: np.ndarray, random: Random, amount: int) -> np.ndarray:
    spread = 0.05 * amount * float(array.std())
    step = 1 if array.dtype.kind in "iu" else spread / 8
    noise = np.round(random.normal(0, spread, array.shape) / step) * step
    return (array + noise).clip(array.min(), array.max()).astype(array.dtype)


def _coarsen(folder: Path) -> None:
    """Round values that are no labels to 25 levels, so that they take little space."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".npz":
            with np.load(path) as found:
                fields = {name: np.round(found[name] * 4) / 4 for name in found.files}
            np.savez(path, **fields)
        elif path.is_file() and _is_image(path) and not _is_of_labels(array := _read_image(path)):
            step = max(float(np.ptp(array)) / 25, 1 if array.dtype.kind in "iu" else 0)
            coarse = (np.round(array / step) * step).clip(array.min(), array.max())
            _write_image(path, coarse.astype(array.dtype))


# --- A submission with missing, empty and failing cases ---


def _spoil(submission: Path, names: list[str]) -> None:
    """Take away what belongs to the second case, empty the third, and let the job of the fourth fail."""
    missing, empty, failing = names[1:4]
    for path in sorted(path for path in submission.rglob("*") if path.is_file()):
        if path.suffix == ".csv":
            _write_rows(path, [row for row in _rows(path) if row[0] != missing])
        elif path.name == "predictions.json":
            jobs = json.loads(path.read_text())
            # Of jobs for stacks of cases, which are named otherwise, the last fails.
            failed = next((job for job in jobs if _image_of(job) == failing), jobs[-1] if jobs[1:] else None)
            jobs = [job | {"status": "Failed", "outputs": []} if job is failed else job for job in jobs]
            path.write_text(json.dumps([job for job in jobs if _image_of(job) != missing]))
        elif path.suffix == ".json":
            content = json.loads(path.read_text())
            if isinstance(content, list):
                content = [None if number == 1 else item for number, item in enumerate(content)]
            elif isinstance(points := content.get("points"), list):
                content["points"] = [point for point in points if point.get("name") != "image_1"]
            path.write_text(json.dumps(content))
        elif path.name.startswith(missing):
            path.unlink()
        elif path.name.startswith(empty):
            if path.suffix == ".txt":
                path.write_text("")
            elif _is_image(path):
                array = _read_image(path)
                _write_image(path, np.full_like(array, _background(array)))


def _image_of(job: dict[str, Any]) -> str:
    """Return the name of the image that a job was given, without its extension."""
    return str((job["inputs"][0].get("image") or {}).get("name", "")).partition(".")[0]


# --- Images ---


def _is_image(path: Path) -> bool:
    if path.name.endswith((".mha", ".nii.gz", ".png", ".bmp")):
        return True
    if not path.name.endswith((".tif", ".tiff")):
        return False
    with Image.open(path) as image:
        return getattr(image, "n_frames", 1) == 1 and image.mode in ("L", "I;16", "I")


def _read_image(path: Path) -> np.ndarray:
    if path.name.endswith((".mha", ".nii.gz")):
        return SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path)))
    with Image.open(path) as image:
        return np.array(image)


def _write_image(path: Path, array: np.ndarray) -> None:
    if path.name.endswith((".mha", ".nii.gz")):
        image = SimpleITK.GetImageFromArray(array)
        image.CopyInformation(SimpleITK.ReadImage(str(path)))
        SimpleITK.WriteImage(image, str(path), useCompression=True)
        return
    with Image.open(path) as image:
        mode, palette = image.mode, image.getpalette()
    written = Image.fromarray(array.astype(np.uint8) if mode in ("1", "P", "L") else array)
    if palette:
        written.putpalette(palette)
    content = io.BytesIO()
    written.convert(mode).save(content, {"bmp": "BMP", "png": "PNG"}.get(path.suffix[1:], "TIFF"))
    path.write_bytes(content.getvalue())


def _background(array: np.ndarray) -> Any:
    values, counts = np.unique(array, return_counts=True)
    return values[counts.argmax()]


def _is_of_labels(array: np.ndarray) -> bool:
    """Tell whether most of an image is background, as of labels, detections and chances of structures."""
    _, counts = np.unique(array, return_counts=True)
    return len(counts) <= 1 or bool(counts.max() > 0.4 * array.size)
