"""What is said of reports of pip-audit, made by hand in its format."""

import json
import subprocess
import sys

import pytest

from test.repository import REPOSITORY

SAFE = {"name": "numpy", "version": "2.4.6", "vulns": []}
UNSAFE = {
    "name": "pillow",
    "version": "10.0.0",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["10.0.1", "10.2"]}, {"id": "GHSA-2", "fix_versions": []}],
}
SKIPPED = {"name": "pillow", "skip_reason": "Dependency not found on PyPI"}
NOTHING = "no database of vulnerabilities answered: nothing was checked"


@pytest.mark.parametrize(
    ("reports", "status", "lines"),
    [
        ([None, None], 3, [NOTHING]),
        ([[SKIPPED], None], 3, [NOTHING]),
        ([[SAFE], None], 0, ["1 packages checked, 0 known vulnerabilities"]),
        (
            [[SAFE, SKIPPED], None],
            0,
            [
                "pillow: not checked, Dependency not found on PyPI",
                "1 packages checked, 0 known vulnerabilities",
            ],
        ),
        (
            [[SAFE, SKIPPED], [SAFE, UNSAFE]],
            1,
            [
                "pillow 10.0.0: GHSA-2, fixed in no version",
                "pillow 10.0.0: PYSEC-1, fixed in 10.0.1, 10.2",
                "2 packages checked, 2 known vulnerabilities",
            ],
        ),
    ],
)
def test_reports(tmp_path, reports, status, lines):
    for number, report in enumerate(reports):
        if report is not None:
            (tmp_path / f"{number}.json").write_text(json.dumps({"dependencies": report, "fixes": []}))
    paths = [tmp_path / f"{number}.json" for number in range(len(reports))]
    done = subprocess.run(
        [sys.executable, REPOSITORY / "scripts" / "vulnerabilities.py", *paths],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout.splitlines(), done.stderr) == (status, lines, "")
