"""What the platform's log and its message are made of."""

import subprocess
import sys

import pytest

from test.repository import REPOSITORY


def written(calls: str) -> tuple[bytes, bytes]:
    code = f"from evaluation.platform.messages import Streams\nstreams = Streams()\n{calls}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=REPOSITORY, check=True)
    return done.stdout, done.stderr


@pytest.mark.parametrize("texts", ["['line'] * 9000 + ['last']", "['\\n'.join(['line'] * 9000), 'last']"])
def test_log_keeps_its_beginning_and_its_last_line(texts):
    stdout, _ = written(f"streams.tell_organiser({texts})")
    lines = stdout.decode().splitlines()
    assert len(lines) == 450
    assert lines[0] == "line"
    assert lines[-2:] == ["… and 8552 more lines", "last"]
    assert lines.count("line") + 8552 + 1 == 9001


def test_overlong_line_is_cut_within_no_character():
    stdout, _ = written("streams.tell_organiser(['é' * 100_000])")
    assert len(stdout) < 1 << 16
    assert set(stdout.decode("utf-8")) == {"é", "\n"}


def test_what_cannot_be_encoded_is_escaped():
    stdout, stderr = written("streams.tell_organiser(['a\\ud800']); streams.tell_participant('b\\udcff')")
    assert stdout == b"a\\ud800\n"
    assert stderr == b"b\\udcff\n"


def test_participants_line_holds_1024_characters():
    _, stderr = written("streams.tell_participant('é' * 2000)")
    assert stderr.decode() == "é" * 1024 + "\n"


def test_descriptor_2_no_longer_leads_to_the_participant():
    stdout, stderr = written("import os, sys; os.write(2, b'one\\n'); sys.stderr.write('two\\n')")
    assert (stdout, stderr) == (b"one\ntwo\n", b"")


def test_descriptor_of_the_participant_is_not_inherited():
    calls = "import subprocess, sys; subprocess.run(['ls', '-1', '/proc/self/fd'], close_fds=False)"
    before = subprocess.run(["ls", "-1", "/proc/self/fd"], capture_output=True, check=True).stdout
    assert len(written(calls)[0].split()) == len(before.split())
