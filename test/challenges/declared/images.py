"""Small phases of images and volumes with a submission."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from numpy.typing import NDArray

import evaluation
from evaluation.io.volume_header import DEPTH, UPRIGHT, Geometry, geometry_columns
from evaluation.io.volumes import write_image
from test.challenges.declared.phases import declared_phase

SPACING_MM = (0.5, 0.25, 2.0)
"""Along x, y, z: a voxel has ¼ mm³."""

Images = Mapping[str, NDArray]


def geometry_of_values(values: NDArray) -> Geometry:
    return Geometry(values.shape, SPACING_MM, (0.0, 0.0, 0.0), UPRIGHT)


def volume_phase(
    folder: Path,
    tables: str,
    references: Images,
    *,
    keys: str = "",
    name: str = "map",
    suffix: str = "",
    more: Mapping[str, list[str]] | None = None,
) -> Path:
    """Write and seal a phase with references (z, y, x) for a field, in a folder of that name.

    Its figures have no intervals, unless ``keys`` ask for them.
    """
    keys = keys if "resamples" in keys + tables else f"{keys}\nresamples = 0"
    columns: dict[str, list[str]] = {"name": list(references), **(more or {})}
    for values in references.values():
        for column, cell in geometry_columns(geometry_of_values(values), DEPTH).items():
            columns.setdefault(column, []).append(cell)
    phase = declared_phase(folder / "phase", tables, columns, keys=keys)
    write_images(phase / name, {f"{case}{suffix}": values for case, values in references.items()})
    evaluation.seal(phase)
    return phase


def write_images(folder: Path, images: Images, extension: str = ".mha", dimensions: int = 3) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, values in images.items():
        data = write_image(values, geometry_of_values(values), extension, dimensions)
        (folder / f"{name}{extension}").write_bytes(data)


def figures_of(phase: Path, folder: Path, images: Images, *, name: str = "map", task: str = "scans") -> dict:
    """Return the value of each figure for a submission of these images."""
    write_images(folder / "submission" / name, images)
    (folder / "submission").mkdir(exist_ok=True)
    result = evaluation.evaluate(phase, folder / "submission", workers=0).to_dict()
    return {figure: entry["value"] for figure, entry in result["aggregates"][task].items()}
