"""The archive of a paper: results, tables, digests and metadata without labels."""

from importlib.metadata import version
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from evaluation import __version__
from evaluation.io.files import sha256_of
from evaluation.organiser.describe_tables import write_description
from evaluation.organiser.paper.document import Document, rendered
from evaluation.organiser.paper.facts import Study
from evaluation.organiser.ranking.leaderboard import write_leaderboard
from evaluation.organiser.ranking.leaderboard_file import Leaderboard

_LISTED, _RESULTS = "SHA256SUMS", "results/leaderboard.json"
_DESCRIBED = ("numbers.csv", "classes.csv", "tests.csv")
_PACKAGES = ("numpy", "scipy", "SimpleITK", "scikit-learn", "pandas", "pillow")


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
    files["README.md"] = rendered("archive.md", study=study)
    title = next((one.facts[0].text for one in document.items if one.item.id == "title" and one.facts), "")
    title = title or f"Results of {', '.join(phase.config.title for phase in study.phases)}"
    about = {"study": study, "title": title, "description": _DESCRIPTION}
    files[".zenodo.json"] = rendered("zenodo.json", **about)
    files["ro-crate-metadata.json"] = rendered(
        "ro-crate-metadata.json", files=dict(sorted(files.items())), **about
    )
    digests = "".join(f"{sha256_of(files[name])}  {name}\n" for name in sorted(files))
    return files | {_LISTED: digests.encode("ascii")}


_DESCRIPTION = (
    "Results of the teams of a medical imaging challenge: leaderboards with intervals, tests and robustness, "
    "ranking scheme, versions, and digests of the reference. No labels."
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
