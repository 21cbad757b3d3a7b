"""Every hostile kind of submission, through the command: a clear message or a correct score, and no leak.

Each run may use 200 s of processor time and 1 GB of memory in any of its processes. It is done twice: against
the phase, and against one with other labels of the same form. A rejected submission must give the same bytes,
and no scoring may have begun: then neither time nor memory can tell anything of a label.
All kinds are run without workers; those that are most different once more with workers, as the container runs
them. Every change runs those of `ALWAYS`; `test.messages` holds the words of the others in one process.
"""

import random
import shutil
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import pytest
import SimpleITK

from evaluation.core.fault import FaultKind
from evaluation.phase.manifest import scan, seal
from test.messages import table
from test.messages.faults import ROWS_OF
from test.repository import REPOSITORY

from .runs import Forks, Run
from .submissions import AS_BEFORE, ROWS, WITH_MASK, Row, good_with_mask

GOOD = "refuge-onsite"
FIRST_LABEL = {"refuge-onsite": 4, "justraigs-phase1": 5}
"""The first column of labels in the cases of phases that are taken whole."""
FEW = {"cysts": ["V01", "V02"], "edd2020": ["E00001", "E00002", "E00009", "E00040", "E00041"]}
"""The cases of phases of which a few are enough."""

ALWAYS = {
    # Headers that promise too much, data that go on, and counts of tags.
    *("PNG whose header promises 3.6 gigapixels", "PNG whose data go on for 1 GB behind its pixels"),
    *("TIFF with a tag of four billion values", "file of one terabyte, all hole"),
    *("volume that goes on for 1 GB", "volume whose header promises 10^27 voxels"),
    *("channels that go on for 1 GB", "channels in a circle"),
    # Damage, and what other programs could show differently.
    *("truncated data in a whole PNG", "PNG with two headers", "volume of two spacings"),
    # What leads elsewhere.
    *("link to the reference", "device", "named pipe", "output: a link", "jobs: a place that climbs"),
    # Names and cells that are programs, formats or terminal codes.
    *("name that clears the screen", "name of format codes", "program", "modules of Python"),
    # Too many of files, lines, brackets, values and faults.
    *("100,001 files", "table of a million lines", "row of a million lines", "a million wrong lines"),
    *("jobs: a hundred thousand brackets", "jobs: four megabytes of outputs"),
    "everything wrong a thousand times",
    # Cells and values.
    *("same image twice", "lone surrogates in UTF-16", "output: an integer beyond floats"),
    # Odd, but unmistakable: scored.
    *("big TIFF", "NIfTI of two gzip members", "interleaved channels", "odd: everything in another order"),
}
"""One or two of each kind of hostility, for each way of reading; a weekly job runs all."""

MESSAGES = table()

Runner = Callable[[tuple[Path, ...], Path, Path], list[Run]]


def phase_pair(folder: Path, name: str) -> tuple[tuple[Path, Path], Path]:
    """Return a sealed phase, the same with another reference, and a good submission; of some a few cases."""
    real = Path(shutil.copytree(REPOSITORY / "ground-truth" / name, folder / "real" / "phase"))
    good = Path(shutil.copytree(REPOSITORY / "test" / "input" / name, folder / "good" / name))
    header, *rows = (real / "cases.csv").read_text().splitlines()
    # Intervals and subgroups see nothing of the files.
    settings, _, rest = (real / "phase.toml").read_text().partition("[[subgroups]]")
    assert "\nseed" in settings
    settings = settings.replace("\nseed", "\nresamples = 0\nseed", 1)
    options = rest[rest.index("[options]") :] if "[options]" in rest else ""
    (real / "phase.toml").write_text(settings + options)
    if cases := FEW.get(name):
        rows = [row for row in rows if row.partition(",")[0] in cases]
        for path in (*real.glob("*/**/*.*"), *good.glob("*/**/*.*")):
            if path.name[: len(cases[0])] not in cases:
                path.unlink()
    (real / "cases.csv").write_text("\n".join([header, *rows, ""]))
    other = Path(shutil.copytree(real, folder / "other" / "phase"))
    if first := FIRST_LABEL.get(name):
        cells = [row.split(",") for row in rows]
        labels = [row[first:] for row in cells]
        random.Random(5).shuffle(labels)
        rows = [",".join(row[:first] + label) for row, label in zip(cells, labels, strict=True)]
        (other / "cases.csv").write_text("\n".join([header, *rows, ""]))
    for path in other.glob("*/**/*.*"):
        if path.suffix == ".txt":
            path.write_text("")
            continue
        image = SimpleITK.ReadImage(path)
        mirrored = SimpleITK.Flip(image, [True] + [False] * (image.GetDimension() - 1))
        mirrored.CopyInformation(image)
        SimpleITK.WriteImage(mirrored, path)
    for phase in (real, other):
        seal(phase, scan(phase))
    return (real, other), good


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    forks = Forks()
    yield forks
    forks.close()


Prepared = tuple[tuple[Path, Path], Path, dict[object, bytes]]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory, forks) -> Callable[[str], Prepared]:
    """Return by phase: the sealed pair, the good submission, and its scores, which differ for the second."""

    @cache
    def of(name: str) -> Prepared:
        folder = tmp_path_factory.mktemp(name)
        phases, good = phase_pair(folder, name)
        done, other = forks(phases, good, tmp_path_factory.mktemp("scores"))
        assert done.metrics is not None, done
        assert done.metrics != other.metrics
        scores: dict[object, bytes] = {AS_BEFORE: done.metrics}
        if name == GOOD:
            changed = Path(shutil.copytree(good, folder / "changed"))
            good_with_mask(changed)
            (with_mask,) = forks(phases[:1], changed, tmp_path_factory.mktemp("scores"), workers=2)
            assert with_mask.metrics not in (None, done.metrics), with_mask
            scores[WITH_MASK] = with_mask.metrics
        return phases, good, scores

    return of


def rows() -> Iterator[object]:
    """Yield bundled phases with the names of their rows; those that not every change runs are marked."""
    for phase in (*FIRST_LABEL, *FEW):
        for name in ROWS_OF[phase]:
            yield pytest.param(phase, name, marks=() if name in ALWAYS else pytest.mark.weekly)


def test_what_is_always_run_is_there():
    assert {name for of_phase in ROWS_OF.values() for name in of_phase} >= ALWAYS


@pytest.mark.parametrize(("phase", "name"), [*rows()])
def test_message_or_score(phase, name, forks, prepared, tmp_path):
    assert_message_or_score(ROWS_OF[phase][name], name, forks, *prepared(phase), tmp_path)


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


ALWAYS_WITH_WORKERS = (FaultKind.MISSING, FaultKind.UNREADABLE, FaultKind.FORBIDDEN, None)


@pytest.mark.parametrize(
    "kind",
    [
        kind if kind in ALWAYS_WITH_WORKERS else pytest.param(kind, marks=pytest.mark.weekly)
        for kind in AS_IN_THE_CONTAINER
    ],
)
def test_message_or_score_with_workers(kind: FaultKind | None, forks, prepared, tmp_path):
    name, run = AS_IN_THE_CONTAINER[kind], partial(forks, workers=2)
    done = assert_message_or_score(ROWS[name], name, run, *prepared(GOOD), tmp_path)
    assert kind is None or f" {kind} (first: " in done.stderr.decode()


def assert_message_or_score(
    row: Row,
    name: str,
    run: Runner,
    phases: tuple[Path, Path],
    good: Path,
    scores: dict[object, bytes],
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
