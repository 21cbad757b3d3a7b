"""Starter of a test of an example: awkward cases as files, scored by the commands that an organiser runs.

A test takes cases of `awkward_maps` or tables of its own, has `Scored` score them, and computes the published
formula from the same arrays, with nothing of the package.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import SimpleITK
from scipy.spatial.transform import Rotation

from test import oracles, started
from test.examples.samples import EXAMPLES

Map = np.ndarray
Maps = Mapping[str, tuple[Map, Map]]
SPACINGS_MM = ((1.0, 1.0, 1.0), (3.0, 0.5, 0.75), (0.75, 2.0, 1.25))
"""Of cases in turn, in the order z, y, x."""
DIRECTIONS = (np.eye(3), np.diag([-1.0, -1.0, 1.0]), Rotation.from_euler("zyx", [0.4, -0.2, 0.3]).as_matrix())


def awkward_maps(labels: Sequence[int], axes: int = 3) -> dict[str, tuple[Map, Map]]:
    """Return reference and prediction by the name of what is awkward; no case is empty on both sides.

    labels: three or more numbers, of which most cases have the first ones.
    """
    one, two, three = labels[:3]
    shape = (9, 14, 16)[-axes:]
    middle = (slice(3, 6),) * (axes - 2)

    def drawn(*boxes: tuple[int, int, int, int, int]) -> Map:
        """Return a map of boxes: label, first and last + 1 row, first and last + 1 column."""
        image = np.zeros(shape, np.uint16)
        for label, top, bottom, left, right in boxes:
            image[(*middle, slice(top, bottom), slice(left, right))] = label
        return image

    def dots(label: int, *places: tuple[int, int]) -> Map:
        image = np.zeros(shape, np.uint16)
        for place in places:
            image[(4,) * (axes - 2) + place] = label
        return image

    bars = drawn((one, 2, 5, 2, 6), (one, 2, 5, 8, 12))
    random = np.random.default_rng(0)
    noise = random.choice(np.array([0, 0, *labels[:3]]), (2, *shape)).astype(np.uint16)
    cases = {
        "shifted": (
            drawn((one, 2, 6, 2, 7), (two, 8, 12, 3, 9)),
            drawn((one, 3, 7, 2, 8), (two, 8, 11, 4, 9)),
        ),
        "missed": (bars, drawn((one, 2, 5, 2, 6))),
        "false": (drawn((one, 2, 5, 2, 6)), drawn((one, 2, 5, 2, 6), (one, 10, 12, 11, 14))),
        "empty": (bars, drawn()),
        "label_missed": (drawn((one, 2, 5, 2, 6), (two, 7, 11, 2, 6)), drawn((one, 2, 4, 2, 6))),
        "label_false": (drawn((one, 2, 5, 2, 6)), drawn((one, 2, 5, 3, 6), (three, 7, 9, 2, 6))),
        "split": (drawn((one, 2, 5, 2, 12)), drawn((one, 2, 5, 2, 6), (one, 2, 5, 8, 12))),
        "joined": (bars, drawn((one, 2, 5, 2, 12))),
        "tie": (drawn((one, 2, 6, 4, 8)), drawn((one, 2, 6, 4, 6), (two, 2, 6, 6, 8))),
        "one_voxel": (dots(one, (3, 3), (9, 9)), dots(one, (3, 4), (9, 9))),
        "diagonal": (dots(two, (3, 3), (4, 4)), dots(two, (3, 3), (4, 4), (5, 5))),
        "border": (
            drawn((one, 0, 4, 0, 5), (two, 9, 14, 10, 16)),
            drawn((one, 0, 3, 0, 6), (two, 8, 14, 11, 16)),
        ),
        "full": (drawn((one, 2, 7, 2, 9)), np.full(shape, one, np.uint16)),
        "exchanged": (
            drawn((one, 2, 5, 2, 6), (two, 8, 11, 2, 6)),
            drawn((two, 2, 5, 2, 6), (one, 8, 11, 3, 6)),
        ),
        "noise": (noise[0], noise[1]),
    }
    corner = cases["border"][0].copy()
    corner[(0,) * axes] = three
    return {**cases, "corner": (corner, np.roll(corner, 1, -1))}


def spacing_of(number: int) -> tuple[float, ...]:
    """Return the spacing of the case of that number, in the order z, y, x."""
    return SPACINGS_MM[number % len(SPACINGS_MM)]


def write_maps(
    folder: Path,
    field: str,
    maps: Maps,
    *,
    columns: Mapping[str, Sequence[object]] | None = None,
    extension: str = ".nii.gz",
    spacings_mm: Sequence[Sequence[float]] = SPACINGS_MM,
) -> None:
    """Write ``cases.csv``, references and predictions; volumes have spacings and directions in turn.

    columns: further columns of ``cases.csv``, a cell for each case. spacings_mm: in the order z, y, x.
    """
    rows: list[dict[str, object]] = []
    for number, (name, pair) in enumerate(maps.items()):
        row: dict[str, object] = {"name": name, "width": pair[0].shape[-1], "height": pair[0].shape[-2]}
        images = [SimpleITK.GetImageFromArray(values) for values in pair]
        if pair[0].ndim == 3:
            spacing = spacings_mm[number % len(spacings_mm)][::-1]
            direction = DIRECTIONS[number % len(DIRECTIONS)]
            for image in images:
                image.SetSpacing(spacing)
                image.SetDirection(direction.ravel())
                image.SetOrigin((5.0, -20.0, 3.5))
            row |= {"depth": pair[0].shape[0], "spacing_mm": " ".join(map(str, spacing))}
            row |= {"origin_mm": "5 -20 3.5", "direction": " ".join(map(repr, direction.ravel().tolist()))}
        for side, image in zip(("phase", "submission"), images, strict=True):
            path = folder / side / field / f"{name}{extension}"
            path.parent.mkdir(parents=True, exist_ok=True)
            SimpleITK.WriteImage(image, str(path))
        rows.append(row | {key: cells[number] for key, cells in (columns or {}).items()})
    write_table(folder / "phase" / "cases.csv", rows)


def write_table(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write a table with the columns of its first row."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


class Scored:
    """What `seal` and `evaluate` say of a folder with ``phase``, without `phase.toml`, and ``submission``."""

    def __init__(self, folder: Path, configuration: Path) -> None:
        shutil.copy(configuration, folder / "phase" / "phase.toml")
        oracles.scored_by_command(configuration)
        phase, places = folder / "phase", {"--output": folder / "output", "--cases": folder / "cases.json"}
        given = {"--ground-truth": phase, "--input": folder / "submission", **places}
        for command in (("seal", phase), ("evaluate", *(word for pair in given.items() for word in pair))):
            done = started.run(*command)
            assert done.returncode == 0, done.stdout + done.stderr
        content = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
        self.cases: dict[str, dict[str, float]] = {
            case["name"]: {key: of for figures in case["tasks"].values() for key, of in figures.items()}
            for case in content["cases"]
        }
        self.result = json.loads((folder / "output" / "metrics.json").read_text(encoding="utf-8"))

    @property
    def figures(self) -> dict[str, float]:
        """The figures over all cases, which have four decimals."""
        tasks = self.result["aggregates"].values()
        return {key: entry["value"] for task in tasks for key, entry in task.items() if "value" in entry}

    def by_case(self, *names: str) -> Iterator[tuple[str, dict[str, float]]]:
        """Yield each case with those of its figures that exist."""
        for case, figures in self.cases.items():
            yield case, {name: figures[name] for name in names if figures.get(name) is not None}


def scored_in_full(folder: Path, example: str) -> Scored:
    """Score the folder of an example or a program, with twelve decimals of the figures over all cases."""
    program = EXAMPLES / "programs" / f"{example}.toml"
    source = program if program.exists() else EXAMPLES / example / "phase.toml"
    text = source.read_text(encoding="utf-8")
    configuration = folder / "in_full.toml"
    text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("value_digits"))
    configuration.write_text(f"value_digits = 12\n{text}", encoding="utf-8")
    return Scored(folder, configuration)


def write_jobs(folder: Path, socket: str, outputs: Mapping[str, Mapping[str, object]]) -> None:
    """Write what an algorithm put out as the platform lists it: by the image's name JSON or maps by slug."""
    jobs = []
    for image, values in outputs.items():
        made: list[dict[str, object]] = []
        for slug, value in values.items():
            relative = f"images/{slug}" if isinstance(value, np.ndarray) else f"{slug}.json"
            path = folder / "submission" / f"job-{image}" / "output" / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            made.append({"socket": {"slug": slug, "relative_path": relative}})
            if isinstance(value, np.ndarray):
                path.mkdir()
                SimpleITK.WriteImage(SimpleITK.GetImageFromArray(value), str(path / "output.tif"))
                made[-1]["image"] = {"name": "output.tif"}
            else:
                path.write_text(json.dumps(value), encoding="utf-8")
        given = [{"socket": {"slug": socket}, "image": {"name": image}}]
        jobs.append({"pk": f"job-{image}", "status": "Succeeded", "inputs": given, "outputs": made})
    (folder / "submission" / "predictions.json").write_text(json.dumps(jobs), encoding="utf-8")


def row_of(example: str) -> str:
    """Return what the table of examples says of one."""
    lines = (EXAMPLES / "README.md").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if f"]({example}/phase.toml)" in line)
