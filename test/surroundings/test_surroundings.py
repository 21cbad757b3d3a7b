"""The same answers in another language with few open files, and as another user without locale or rights."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from test.organiser.rescoring.teams import write_teams
from test.phases import refuge_submission
from test.repository import REPOSITORY

LINES = (
    "seal {given}/phase",
    "form {given}/phase --output {out}/form.json",
    "check --form {out}/form.json {given}/faulty",
    "evaluate --each {given}/submissions --ground-truth {given}/phase --output {out}/each --workers 2",
    "rank {out}/each --output {out}/board --resamples 20",
)
NOBODY = 65534


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that another user may enter, with a phase, teams, and a submission with faults."""
    with tempfile.TemporaryDirectory(prefix="surroundings-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        phase, _ = write_teams(folder / "given")
        replaced = (phase / "phase.toml").read_text().replace('"Tiny"', '"Größe · İIıi"')
        (phase / "phase.toml").write_text(replaced, encoding="utf-8")
        (phase / "manifest.json").unlink()
        (phase / ".nonce").write_text("0" * 32)
        faulty = refuge_submission(folder / "given" / "faulty", 6)
        next(iter(sorted((faulty / "segmentation").iterdir()))).write_bytes(b"no image")
        table = faulty / "classification_results.csv"
        table.write_text(table.read_text().replace(".", ",", 1))
        yield folder


def answers(
    folder: Path, name: str, *, start: Sequence[str] = (), **variables: str
) -> dict[str, tuple[int, str, str] | bytes]:
    """Return status and output of each command by line, and the bytes of each file by path."""
    given, out = folder / name / "given", folder / name / "out"
    shutil.copytree(folder / "given", given)
    out.mkdir()
    if "setpriv" in start:
        for path in (given, *given.rglob("*"), out):
            os.chown(path, NOBODY, NOBODY)
    surroundings = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG"))}
    surroundings |= {"PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    found: dict[str, tuple[int, str, str] | bytes] = {}
    for line in LINES:
        command = [*start, sys.executable, "-m", "evaluation", *line.format(given=given, out=out).split()]
        done = subprocess.run(
            command, cwd=folder, env=surroundings, capture_output=True, encoding="utf-8", timeout=200
        )
        texts = (text.replace(str(folder / name), "") for text in (done.stdout, done.stderr))
        stdout, stderr = ("\n".join(sorted(text.splitlines())) for text in texts)  # teams end in any order
        found[line] = done.returncode, stdout, stderr
    files = (path for path in sorted(out.rglob("*")) if path.is_file())
    return found | {str(path.relative_to(out)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def usual(folder) -> Mapping[str, object]:
    found = answers(folder, "usual", LC_ALL="C.UTF-8")
    assert [found[line][0] for line in LINES] == [0, 0, 1, 0, 0], found
    assert {"form.json", "each/folder/metrics.json", "board/leaderboard.json"} <= found.keys()
    return found


def unless_required(reason: str) -> None:
    """Skip a test, or fail where continuous integration requires it."""
    if os.environ.get("EVALUATION_REQUIRE_SURROUNDINGS") == "1":
        pytest.fail(f"EVALUATION_REQUIRE_SURROUNDINGS=1, but {reason}")
    pytest.skip(reason)


def test_in_another_language_with_few_open_files(folder, usual):
    """In Turkish numbers have a decimal comma, and a capital i has a dot."""
    locale, charset = "tr_TR", "UTF-8"
    compiler = shutil.which("localedef")
    if compiler is None or not Path("/usr/share/i18n/locales", locale).exists():
        unless_required("the package `locales` is not installed")
    made = [compiler, "-i", locale, "-f", charset, str(folder / f"{locale}.{charset}")]
    subprocess.run(made, check=True, capture_output=True)
    variables = {"LOCPATH": str(folder), "LC_ALL": f"{locale}.{charset}"}
    program = "from locale import *; setlocale(LC_ALL, ''); print(localeconv()['decimal_point'])"
    point = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **variables}, capture_output=True, check=True
    )
    assert point.stdout == b",\n"
    few = ("bash", "-c", 'ulimit -n 64; exec "$@"', "bash")
    assert answers(folder, "few", start=few, **variables) == usual


def test_as_another_user_without_a_locale_a_home_or_a_folder_to_write_in(folder, usual):
    if os.getuid() != 0:
        unless_required("only root may become another user")
    user = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    program = "import pathlib; pathlib.Path('x').touch()"
    done = subprocess.run([*user, sys.executable, "-c", program], cwd=folder, capture_output=True, text=True)
    if "PermissionError" not in done.stderr:
        unless_required(f"another user cannot run {sys.executable}: {done.stderr}")
    assert answers(folder, "nobody", start=user, HOME="/nonexistent", LC_ALL="C", LANG="C") == usual
