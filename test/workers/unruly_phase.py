"""A phase of the ill-behaved challenge in a folder, and a submission that names each case's behaviour."""

from collections.abc import Mapping
from pathlib import Path

from evaluation.phase.manifest import scan, seal

CHALLENGES = Path(__file__).parent / "challenges"


def write_unruly(
    folder: Path, behaviours: Mapping[int, str], cases: int = 12, keys: str = ""
) -> tuple[Path, Path]:
    """Write a sealed phase and a submission in which the given cases misbehave; return both folders."""
    phase, submission = folder / "unruly", folder / "submission"
    phase.mkdir(parents=True)
    submission.mkdir()
    head = 'challenge = "unruly"\nname = "unruly"\ntitle = "Unruly"\nsubmission = "archive"\nresamples = 0\n'
    (phase / "phase.toml").write_text(head + keys)
    names = [f"case{number:03d}" for number in range(cases)]
    (phase / "cases.csv").write_text("name,behaviour\n" + "".join(f"{name},well\n" for name in names))
    rows = [f"{name},{behaviours.get(number, 'well')}\n" for number, name in enumerate(names)]
    (submission / "behaviour.csv").write_text("Name,Behaviour\n" + "".join(rows))
    seal(phase, scan(phase))
    return phase, submission
