"""The archive of a paper: results, tables, digests and metadata without labels, and their check."""

import csv
import json
import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from evaluation import __version__
from evaluation.core.fault import PhaseError
from evaluation.io.files import sha256_of
from evaluation.io.tables import DECIMAL
from evaluation.organiser.describe_tables import write_description
from evaluation.organiser.paper.document import Document, rendered
from evaluation.organiser.paper.facts import Study
from evaluation.organiser.paper.questions import packaged
from evaluation.organiser.paper.recompute import recomputed
from evaluation.organiser.ranking.leaderboard_file import Leaderboard
from evaluation.organiser.ranking.leaderboard_writing import write_leaderboard
from evaluation.organiser.report.board.reading import read_leaderboard

_LISTED, _RESULTS = "files.json", "results/leaderboard.json"
_DESCRIBED = ("numbers.csv", "classes.csv", "tests.csv")
_MAX_ARCHIVE_BYTES = 1 << 30
_PACKAGES = ("numpy", "scipy", "SimpleITK", "scikit-learn", "pandas", "pillow")
_TYPES = {".csv": "text/csv", ".json": "application/json", ".md": "text/markdown", ".py": "text/x-python"}


def archive_of(document: Document) -> dict[str, bytes]:
    """Return the files of the archive by name: aggregated results alone, no case and no label."""
    study = document.study
    files = _results(study.board)
    for name in files:
        # As `rank` wrote them, where it did.
        if (own := study.folders[0] / PurePosixPath(name).name).is_file():
            files[name] = own.read_bytes()
    with TemporaryDirectory() as temporary:
        for path in write_description(study.description, Path(temporary)):
            if path.name in _DESCRIBED:
                files[f"data/{path.name}"] = path.read_bytes()
    packages = {name: version(name) for name in _PACKAGES}
    files["versions.json"] = rendered("versions.json", study=study, version=__version__, packages=packages)
    files["recompute.py"] = packaged("recompute.txt").encode("utf-8")
    files["README.md"] = rendered("archive.md", study=study)
    title = next((one.facts[0].text for one in document.items if one.item.id == "title" and one.facts), "")
    title = title or f"Results of {', '.join(phase.config.title for phase in study.phases)}"
    about = {"study": study, "title": title, "description": _DESCRIPTION}
    files[".zenodo.json"] = rendered("zenodo.json", **about)
    files["ro-crate-metadata.json"] = rendered(
        "ro-crate-metadata.json", files=dict(sorted(files.items())), **about
    )
    digests = {name: sha256_of(files[name]) for name in sorted(files)}
    return files | {_LISTED: (json.dumps(digests, indent=1) + "\n").encode("ascii")}


_DESCRIPTION = (
    "Results of the teams of a medical imaging challenge: leaderboards with intervals, tests and robustness, "
    "ranking scheme, versions, digests of the reference, and a program that recomputes the tables. No labels."
)


def _results(board: Leaderboard) -> dict[str, bytes]:
    """Return the files of a leaderboard as `rank` writes them."""
    with TemporaryDirectory() as temporary:
        written = {path.name: path.read_bytes() for path in write_leaderboard(board, Path(temporary))}
    return {_RESULTS if name.endswith(".json") else f"tables/{name}": data for name, data in written.items()}


def drafts(study: Study) -> list[str]:
    """Return the missing metadata of the archive, by key of `paper.toml`."""
    given = study.answers.archive
    return [f"archive.{name}" for name in ("authors", "licence", "date") if not getattr(given, name)]


def verify(place: Path) -> list[str]:
    """Return every difference of an archive from its digests, and of its tables from its results.

    It is a folder or a zip file of one, else `PhaseError` is raised. Nothing of it is run.
    """
    if place.is_dir():
        files = {path.relative_to(place).as_posix(): path for path in place.rglob("*") if path.is_file()}
        return list(_faults({name: path.read_bytes() for name, path in files.items()}))
    if not zipfile.is_zipfile(place):
        raise PhaseError(f"{place}: expected the folder of an archive or a zip file of it")
    with zipfile.ZipFile(place) as packed:
        # No member gives more bytes than its entry states.
        if (size := sum(entry.file_size for entry in packed.infolist())) > _MAX_ARCHIVE_BYTES:
            raise PhaseError(f"{place}: expected at most {_MAX_ARCHIVE_BYTES} bytes, found {size}")
        names = [name for name in packed.namelist() if not name.endswith("/")]
        roots = [name.removesuffix(_LISTED) for name in names if PurePosixPath(name).name == _LISTED]
        root = min(roots, key=len, default="")
        try:
            found = {name.removeprefix(root): packed.read(name) for name in names}
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
            raise PhaseError(f"{place}: cannot be unpacked: {error}") from None
        return list(_faults(found))


def _faults(files: Mapping[str, bytes]) -> Iterator[str]:
    try:
        digests = json.loads(files[_LISTED])
        for name in sorted({*digests, *files} - {_LISTED}):
            if name not in files:
                yield f"{name}: is listed in {_LISTED}, but missing"
            elif digests.get(name) != sha256_of(files[name]):
                what = "differs from its digest" if name in digests else "is not listed"
                yield f"{name}: {what} in {_LISTED}"
        with TemporaryDirectory() as temporary:
            (Path(temporary) / "leaderboard.json").write_bytes(files[_RESULTS])
            board, _ = read_leaderboard(Path(temporary))
        expected = _results(recomputed(board))
    except (PhaseError, KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        yield f"the archive cannot be read: {type(error).__name__}: {error}"
        return
    tables = {name for name in files if name.startswith("tables/")}
    for name in sorted((tables | expected.keys()) - {_RESULTS}):
        rows, own = (list(csv.reader(one.get(name, b"").decode().splitlines())) for one in (expected, files))
        for line, pair in enumerate(zip_longest(rows, own, fillvalue=()), start=1):
            if len(pair[0]) != len(pair[1]) or not all(map(_equal, *pair)):
                yield f"{name}, line {line}: does not follow from the results"
                break


def _equal(first: str, second: str) -> bool:
    """Return whether two cells have the same text, or the same number in all digits but the last."""
    if not (DECIMAL.fullmatch(first) and DECIMAL.fullmatch(second)):
        return first == second
    return math.isclose(float(first), float(second), rel_tol=1e-10, abs_tol=1e-12)
