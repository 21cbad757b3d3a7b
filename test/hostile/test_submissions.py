"""Every hostile kind of submission, through the command: a clear message or a correct score, and no leak.

Each run may use 200 s of processor time and 1 GB of memory in any of its processes. It is done twice: against
the phase, and against one with other labels of the same form. A rejected submission must give the same bytes,
and no scoring may have begun: then neither time nor memory can tell anything of a label.
All kinds are run without workers; those that are most different once more with workers, as the container runs
them.
"""

import random
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import SimpleITK
from PIL import Image

from evaluation.core.fault import FaultKind
from evaluation.phase.manifest import scan, seal
from test.examples.samples import write_sample
from test.messages import table
from test.repository import REPOSITORY

from . import algorithm, boxes, points, volumes
from .runs import Forks, Run, in_processes
from .submissions import AS_BEFORE, ROWS, WITH_MASK, Row, good_with_mask

GOOD = REPOSITORY / "test" / "input" / "refuge-onsite"
GOOD_JOBS = REPOSITORY / "test" / "input" / "justraigs-phase1"

MESSAGES = table()

Runner = Callable[[tuple[Path, ...], Path, Path], list[Run]]


def phase_pair(folder: Path, name: str, first_label: int) -> tuple[Path, Path]:
    """Return a sealed phase, and the same with the labels of its cases dealt out anew."""
    real = Path(shutil.copytree(REPOSITORY / "ground-truth" / name, folder / "real" / "phase"))
    other = Path(shutil.copytree(real, folder / "other" / "phase"))
    header, *rows = [line.split(",") for line in (other / "cases.csv").read_text().splitlines()]
    labels = [row[first_label:] for row in rows]
    random.Random(5).shuffle(labels)
    assert labels != [row[first_label:] for row in rows]
    lines = [header, *(row[:first_label] + label for row, label in zip(rows, labels, strict=True))]
    (other / "cases.csv").write_text("".join(",".join(line) + "\n" for line in lines))
    for path in other.glob("masks/*"):
        Image.open(path).transpose(Image.Transpose.ROTATE_90).save(path)
    for phase in (real, other):
        # Intervals see nothing of the files.
        text = (phase / "phase.toml").read_text()
        assert "\nseed" in text
        (phase / "phase.toml").write_text(text.replace("\nseed", "\nresamples = 0\nseed", 1))
        seal(phase, scan(phase))
    return real, other


@pytest.fixture(scope="module")
def phases(tmp_path_factory) -> tuple[Path, Path]:
    return phase_pair(tmp_path_factory.mktemp("archive"), GOOD.name, first_label=4)


@pytest.fixture(scope="module")
def algorithm_phases(tmp_path_factory) -> tuple[Path, Path]:
    return phase_pair(tmp_path_factory.mktemp("algorithm"), GOOD_JOBS.name, first_label=5)


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    forks = Forks()
    yield forks
    forks.close()


@pytest.fixture(scope="module")
def scores(phases, tmp_path_factory) -> dict[object, bytes]:
    """What metrics.json holds for the good submission, and for it with another first mask."""
    folder = tmp_path_factory.mktemp("scores")
    other = Path(shutil.copytree(GOOD, folder / "other"))
    good_with_mask(other)
    found = {}
    for expected, submission in ((AS_BEFORE, GOOD), (WITH_MASK, other)):
        here = folder / f"of {submission.name}"
        here.mkdir()
        (done,) = in_processes(phases[:1], submission, here)
        assert done.metrics is not None, done
        found[expected] = done.metrics
    assert found[AS_BEFORE] != found[WITH_MASK]
    return found


@pytest.fixture(scope="module")
def algorithm_scores(algorithm_phases, tmp_path_factory) -> dict[object, bytes]:
    (done,) = in_processes(algorithm_phases[:1], GOOD_JOBS, tmp_path_factory.mktemp("scores"))
    assert done.metrics is not None, done
    return {AS_BEFORE: done.metrics}


@pytest.mark.few(50)
@pytest.mark.parametrize("name", ROWS)
def test_message_or_score(name, forks, phases, scores, tmp_path):
    assert_message_or_score(ROWS[name], name, forks, phases, scores, GOOD, tmp_path)


@pytest.mark.few(15)
@pytest.mark.parametrize("name", algorithm.ROWS)
def test_message_or_score_of_an_algorithm(name, forks, algorithm_phases, algorithm_scores, tmp_path):
    row = algorithm.ROWS[name]
    assert_message_or_score(row, name, forks, algorithm_phases, algorithm_scores, GOOD_JOBS, tmp_path)


def few_cases(folder: Path, name: str, cases: list[str]) -> tuple[tuple[Path, Path], Path]:
    """Return a sealed phase of a few cases, the same with another reference, and a good submission."""
    copies = [
        Path(shutil.copytree(REPOSITORY / source / name, folder / kind / place))
        for source, kind, place in (
            ("ground-truth", "real", "phase"),
            ("ground-truth", "other", "phase"),
            ("test/input", "good", name),
        )
    ]
    for copy in copies:
        for path in copy.rglob("*"):
            if path.is_file() and path.parent != copy and path.name[: len(cases[0])] not in cases:
                path.unlink()
    *phases, submission = copies
    for phase in phases:
        header, *rows = (phase / "cases.csv").read_text().splitlines(keepends=True)
        (phase / "cases.csv").write_text(
            header + "".join(row for row in rows if row.partition(",")[0] in cases)
        )
        settings, _, options = (phase / "phase.toml").read_text().partition("[[subgroups]]")
        rest = options[options.index("[options]") :] if options else ""
        (phase / "phase.toml").write_text(settings.replace("\nseed", "\nresamples = 0\nseed", 1) + rest)
    for path in (*phases[1].rglob("*.mha"), *phases[1].rglob("*.tif")):
        image = SimpleITK.ReadImage(path)
        values = np.ascontiguousarray(SimpleITK.GetArrayFromImage(image)[..., ::-1])
        mirrored = SimpleITK.GetImageFromArray(values)
        mirrored.CopyInformation(image)
        SimpleITK.WriteImage(mirrored, path)
    for path in phases[1].rglob("*.txt"):
        path.write_text("")
    for phase in phases:
        seal(phase, scan(phase))
    return (phases[0], phases[1]), submission


def scored_phases(
    forks: Forks, phases: tuple[Path, Path], good: Path, folder: Path
) -> tuple[tuple[Path, Path], Path, dict[object, bytes]]:
    """Return the sealed pair, the good submission and its scores, which are others against the second one."""
    done, other = forks(phases, good, folder)
    assert done.metrics is not None, done
    assert done.metrics != other.metrics
    return phases, good, {AS_BEFORE: done.metrics}


FEW = {
    "cysts": (volumes.ROWS, ["V01", "V02"]),
    "edd2020": (boxes.ROWS, ["E00001", "E00002", "E00009", "E00040", "E00041"]),
}


@pytest.fixture(scope="module")
def few(tmp_path_factory, forks) -> dict[str, tuple[tuple[Path, Path], Path, dict[object, bytes]]]:
    """By phase: the sealed pair, the good submission and its scores."""
    found = {}
    for name, (_, cases) in FEW.items():
        phases, good = few_cases(tmp_path_factory.mktemp(name), name, cases)
        found[name] = scored_phases(forks, phases, good, tmp_path_factory.mktemp("scores"))
    return found


@pytest.mark.parametrize(
    ("phase", "name"), [(phase, name) for phase, (rows, _) in FEW.items() for name in rows]
)
def test_message_or_score_of_volumes_and_boxes(phase, name, forks, few, tmp_path):
    phases, good, scores = few[phase]
    assert_message_or_score(FEW[phase][0][name], name, forks, phases, scores, good, tmp_path)


def sample_pair(folder: Path, name: str, reference: str) -> tuple[tuple[Path, Path], Path]:
    """Return a sealed example, the same with x and y of its reference exchanged, and a good submission."""
    sample = write_sample(folder / "sample", name)
    phases = folder / "real" / "phase", folder / "other" / "phase"
    for phase in phases:
        shutil.copytree(sample / "phase", phase)
        text = (phase / "phase.toml").read_text()
        (phase / "phase.toml").write_text(
            text.replace("resamples = 1000\n", "").replace("\n[fields", "\nresamples = 0\n\n[fields", 1)
        )
    header, *rows = [line.split(",") for line in (phases[1] / reference).read_text().splitlines()]
    exchanged = [[case, y, x, *rest] for case, x, y, *rest in rows]
    (phases[1] / reference).write_text("".join(",".join(row) + "\n" for row in [header, *exchanged]))
    for phase in phases:
        seal(phase, scan(phase))
    return phases, Path(shutil.copytree(sample / "submission", folder / name))


LISTS = {
    "luna16": (points.LUNA16, "annotations.csv"),
    "midog2021": (points.MIDOG, "mitotic_figures.csv"),
}


@pytest.fixture(scope="module")
def lists(tmp_path_factory, forks) -> dict[str, tuple[tuple[Path, Path], Path, dict[object, bytes]]]:
    """By example: the sealed pair, the good submission and its scores."""
    found = {}
    for name, (_, reference) in LISTS.items():
        phases, good = sample_pair(tmp_path_factory.mktemp(name), name, reference)
        found[name] = scored_phases(forks, phases, good, tmp_path_factory.mktemp("scores"))
    return found


@pytest.mark.few(15)
@pytest.mark.parametrize(
    ("phase", "name"), [(phase, name) for phase, (rows, _) in LISTS.items() for name in rows]
)
def test_message_or_score_of_lists(phase, name, forks, lists, tmp_path):
    phases, good, scores = lists[phase]
    assert_message_or_score(LISTS[phase][0][name], name, forks, phases, scores, good, tmp_path)


# One row of each kind of fault, and one that is scored.
AS_IN_THE_CONTAINER = {
    FaultKind.MISSING: "nothing at all",
    FaultKind.UNKNOWN: "unknown image",
    FaultKind.DUPLICATE: "same image twice",
    FaultKind.UNREADABLE: "zeros",
    FaultKind.WRONG_SIZE: "other size",
    FaultKind.WRONG_VALUE: "values that mean nothing",
    FaultKind.MALFORMED: "decimal comma",
    FaultKind.FORBIDDEN: "link to /dev/zero",
    FaultKind.TOO_LARGE: "PNG with a compressed text of 2 GB",
    None: "opaque RGBA PNG",
}


@pytest.mark.few(5)
@pytest.mark.parametrize("kind", [*FaultKind, None])
def test_message_or_score_with_workers(kind: FaultKind | None, forks, phases, scores, tmp_path):
    """The command starts from nothing for an image that a worker cannot decode, as for good submissions."""
    name = AS_IN_THE_CONTAINER[kind]
    run = in_processes if kind is FaultKind.UNREADABLE else partial(forks, workers=2)
    done = assert_message_or_score(ROWS[name], name, run, phases, scores, GOOD, tmp_path)
    assert kind is None or f" {kind} (first: " in done.stderr.decode()


def assert_message_or_score(
    row: Row,
    name: str,
    run: Runner,
    phases: tuple[Path, Path],
    scores: dict[object, bytes],
    good: Path,
    folder: Path,
) -> Run:
    submission = Path(shutil.copytree(good, folder / "submission"))
    row.spoil(submission)
    if row.expected in scores:
        (done,) = run(phases[:1], submission, folder)
        assert (done.status, done.stderr) == (0, b""), done
        assert done.metrics == scores[row.expected]
        assert done.scored
        return done
    done, exchanged = run(phases, submission, folder)
    assert done.status == 1, done
    assert done.metrics is None
    assert [done.scored, exchanged.scored] == [False, False]
    (line,) = done.stderr.decode("utf-8").splitlines()
    assert line.startswith("Submission rejected, ")
    if row.expected is None:
        assert line == MESSAGES[good.name][name]
    else:
        assert str(row.expected) in line
    assert len(line) <= 1024
    assert line.isprintable()
    assert done == exchanged
    log = done.stdout.decode("utf-8").splitlines()
    assert 0 < len(log) <= 500
    assert max(len(entry.encode()) for entry in log) < 1 << 16
    assert all(entry.isprintable() for entry in log)
    return done
