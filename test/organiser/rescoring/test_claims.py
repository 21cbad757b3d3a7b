"""Two processes never hold the same claim."""

import subprocess
import sys

import pytest

from evaluation.organiser.rescoring.kept import open_claims
from test.repository import REPOSITORY

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")

OTHER = (
    "import sys; from pathlib import Path; from evaluation.organiser.rescoring.kept import open_claims\n"
    "with open_claims(Path(sys.argv[1])) as claims:\n"
    "    print([claims.take(place) for place in sys.argv[2:]], flush=True)\n"
    "    sys.stdin.read()\n"
)


def other(folder, *places: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", OTHER, str(folder), *places]
    return subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_claim_is_refused_until_its_process_ends(tmp_path):
    with other(tmp_path, "a", "b") as process, open_claims(tmp_path) as claims:
        assert process.stdout.readline() == "[True, True]\n"
        assert [claims.take(place) for place in ("a", "c")] == [False, True]
        process.kill()
        assert claims.take("a", wait=True)
        assert claims.take("b")


def test_a_claim_that_is_given_up_can_be_taken(tmp_path):
    with open_claims(tmp_path) as claims:
        assert claims.take("a")
        with other(tmp_path, "a", "b") as process:
            assert process.stdout.readline() == "[False, True]\n"
            process.stdin.close()
        claims.release("a")
        with other(tmp_path, "a") as process:
            assert process.stdout.readline() == "[True]\n"
            process.stdin.close()
