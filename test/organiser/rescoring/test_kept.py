"""Results are whole or absent, and kept only while all that they were made of is the same."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from evaluation.core.trouble import MachineTrouble
from evaluation.organiser.rescoring.kept import Results
from evaluation.organiser.rescoring.task import Answer
from test.failing_calls import Calls, counted
from test.repository import REPOSITORY

ENVIRONMENT = {"version": "1", "sources": "sources", "libraries": "numpy 1"}
MADE_OF = {"seal": "seal", "source": "folder", "environment": ENVIRONMENT}
SCORED = Answer("scored", "scored", "digest", {"cases.json": b"1", "metrics.json": b"2"}, lasting=True)
REJECTED = Answer("rejected", "line", "digest", {"rejected.txt": b"no"}, lasting=True)


def files(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "team" / "1").iterdir()}


@pytest.mark.parametrize("answer", [SCORED, REJECTED], ids=lambda answer: answer.kind)
def test_a_published_result_is_kept(tmp_path, answer):
    results = Results(tmp_path)
    results.publish("team/1", MADE_OF, answer)
    assert files(tmp_path) == answer.files
    assert Results(tmp_path).kept("team/1", MADE_OF) == "digest"
    assert results.is_rejection("team/1") == (answer is REJECTED)
    assert results.kept("team/2", MADE_OF) is None


@pytest.mark.parametrize("lasting", [True, False])
def test_outputs_of_a_phase_are_a_part_of_a_result_and_leave_with_it(tmp_path, lasting):
    results = Results(tmp_path)
    given = {**SCORED.files, "performance.json": b"{}", "pages/figures.pdf": b"%PDF"}
    results.publish("team/1", MADE_OF, replace(SCORED, files=given, lasting=lasting))
    place = tmp_path / "team" / "1"
    assert {name: (place / name).read_bytes() for name in given} == given
    assert results.kept("team/1", MADE_OF) == ("digest" if lasting else None)
    (place / "pages" / "figures.pdf").write_bytes(b"other")
    assert results.kept("team/1", MADE_OF) is None
    results.publish("team/1", MADE_OF, REJECTED)
    assert [path.name for path in place.rglob("*") if path.is_file()] == ["rejected.txt"]


def test_a_record_removes_no_file_outside_of_its_result(tmp_path):
    results = Results(tmp_path)
    results.publish("team/1", MADE_OF, SCORED)
    other = tmp_path / "other.json"
    other.write_bytes(b"")
    (record,) = (tmp_path / ".kept").glob("*.json")
    files = dict.fromkeys(("../../other.json", str(other)), "")
    record.write_text(json.dumps({**json.loads(record.read_text()), "files": files}))
    results.publish("team/1", MADE_OF, REJECTED)
    assert other.exists()


OTHERS = {
    "seal": MADE_OF | {"seal": "other"},
    "source": MADE_OF | {"source": "image"},
    "version": MADE_OF | {"environment": ENVIRONMENT | {"version": "2"}},
    "sources": MADE_OF | {"environment": ENVIRONMENT | {"sources": "other"}},
    "libraries": MADE_OF | {"environment": ENVIRONMENT | {"libraries": "numpy 2"}},
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_result_of_anything_else_is_not_kept(tmp_path, other):
    Results(tmp_path).publish("team/1", MADE_OF, SCORED)
    assert Results(tmp_path).kept("team/1", OTHERS[other]) is None


SPOILT = {
    "altered": lambda folder: (folder / "metrics.json").write_bytes(b"3"),
    "removed": lambda folder: (folder / "cases.json").unlink(),
    "added": lambda folder: (folder / "rejected.txt").write_bytes(b""),
    "record cut off": lambda folder: next((folder.parents[1] / ".kept").glob("*.json")).write_bytes(
        b'{"made'
    ),
}


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_result_that_was_touched_is_not_kept(tmp_path, spoil):
    Results(tmp_path).publish("team/1", MADE_OF, SCORED)
    SPOILT[spoil](tmp_path / "team" / "1")
    assert Results(tmp_path).kept("team/1", MADE_OF) is None


def test_a_failure_is_written_for_the_ranking_and_not_kept(tmp_path):
    results = Results(tmp_path)
    results.publish("team/1", MADE_OF, Answer.failed("no memory"))
    assert files(tmp_path) == {"rejected.txt": b"not scored: no memory\n"}
    assert results.kept("team/1", MADE_OF) is None


@pytest.mark.parametrize("writes", range(3))
def test_a_result_that_cannot_be_written_leaves_nothing(tmp_path, writes):
    """The disk is full at each of the three files in turn."""
    results = Results(tmp_path)
    results.publish("team/1", MADE_OF, SCORED)
    newer = replace(SCORED, files={"cases.json": b"3", "metrics.json": b"4"})
    full = Calls(tmp_path, "rename", writes + 1, "ENOSPC", lasts=True)
    with counted(full), pytest.raises(MachineTrouble):
        results.publish("team/1", MADE_OF, newer)
    assert full.counts["rename"] == writes + 1
    assert files(tmp_path) == {}
    assert results.kept("team/1", MADE_OF) is None


# --- Two processes never hold the same claim ---


OTHER = (
    "import sys; from pathlib import Path; from evaluation.organiser.rescoring.kept import Results\n"
    "with Results(Path(sys.argv[1])) as results:\n"
    "    print([results.take(place) for place in sys.argv[2:]], flush=True)\n"
    "    sys.stdin.read()\n"
)


def other(folder, *places: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", OTHER, str(folder), *places]
    return subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_a_claim_is_refused_until_it_is_given_up_or_its_process_ends(tmp_path):
    with other(tmp_path, "a", "b") as process, Results(tmp_path) as results:
        assert process.stdout.readline() == "[True, True]\n"
        assert [results.take(place) for place in ("a", "c")] == [False, True]
        process.kill()
        assert results.take("a", wait=True)
        assert results.take("b")
        results.release("b")
        with other(tmp_path, "a", "b") as another:
            assert another.stdout.readline() == "[False, True]\n"
            another.stdin.close()
