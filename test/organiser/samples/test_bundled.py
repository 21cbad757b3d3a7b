"""The bundled phases and submissions are what the commands write, and their four submissions are in order."""

from pathlib import Path

import numpy as np
import pytest
import SimpleITK
import tifffile
from numpy.typing import NDArray
from PIL import Image

from evaluation.cli.main import main
from evaluation.evaluate import Result, evaluate
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase
from test.repository import REPOSITORY

# The options of the command `sample` by the names of the phases that it wrote.
COMMANDS = {
    "refuge-onsite": "refuge --cases 40 --width 160 --height 160 --glaucoma 0.3 --seed 2018",
    "adam-onsite": "adam --set onsite --cases 45 --width 124 --height 120 --seed 1",
    "edd2020": "edd2020 --cases 30 --out-of-sample 20 --width 160 --height 128 --seed 1",
    "cysts": "cysts --cases 26 --scale 0.1 --seed 2016",
    "justraigs": "justraigs --cases 600 --stack 100 --seed 2024",
}
QUALITIES = ("perfect", "good", "poor", "random")


def content(path: Path) -> bytes | NDArray[np.generic]:
    """Return the pixels of an image, which an encoder may write in other bytes, or the bytes of a file."""
    if path.suffix == ".mha":
        return SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path)))
    if path.suffix == ".tif":
        return tifffile.imread(path)
    return np.asarray(Image.open(path)) if path.suffix in (".png", ".bmp") else path.read_bytes()


def assert_same(made: Path, bundled: Path) -> None:
    """Compare all files of a folder but the configuration, to which the bundled phases add."""
    files = [
        path.relative_to(made) for path in made.rglob("*") if path.is_file() and path.name != "phase.toml"
    ]
    assert files
    for path in files:
        np.testing.assert_array_equal(content(made / path), content(bundled / path), str(path))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_bundled_phases_are_what_the_generator_gives(tmp_path, name):
    assert main(["sample", *COMMANDS[name].split(), "--name", name, "--output", str(tmp_path)]) == 0
    folders = sorted((tmp_path / "ground-truth").iterdir())
    assert [folder.name for folder in folders] == sorted(
        path.name for path in (REPOSITORY / "ground-truth").glob(f"{name}*")
    )
    for folder in folders:
        assert_same(folder, REPOSITORY / "ground-truth" / folder.name)
        submissions = tmp_path / "submissions" / (folder.name if name == "justraigs" else "")
        assert_same(submissions / "good", REPOSITORY / "test" / "input" / folder.name)
        assert_in_order(folder, submissions)


def assert_in_order(folder: Path, submissions: Path) -> None:
    """Compare the figures that count of the four submissions: the perfect one has the best values."""
    phase = load_phase(folder, scan(folder))
    results = [evaluate(phase, submissions / quality, 0) for quality in QUALITIES]
    for task in phase.tasks:
        for metric in task.metrics:
            if f"{task.name}.{metric.name}" not in phase.challenge.components or not metric.ordered:
                continue
            values = []
            for result in results:
                assert isinstance(result, Result)
                values.append(result.metrics.aggregates[task.name][metric.name].value)
            assert values == sorted(values, reverse=metric.best > metric.worst), metric.name
            assert values[0] == pytest.approx(metric.best)


def test_the_bundled_annotations_are_what_the_command_writes(tmp_path):
    options = "--annotations --name cysts-benchmark --cases 6 --scale 0.2 --b-scans 6 --seed 2016"
    assert main(["sample", "cysts", *options.split(), "--output", str(tmp_path)]) == 0
    assert_same(tmp_path, REPOSITORY / "test" / "input" / "cysts-annotations")
