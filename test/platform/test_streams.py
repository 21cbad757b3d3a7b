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


def test_overlong_lines_are_cut_within_no_character_and_what_cannot_be_encoded_is_escaped():
    texts = "['é' * 100_000, 'a\\ud800']"
    stdout, stderr = written(
        f"streams.tell_organiser({texts}); streams.tell_participant('\\udcff' + 'é' * 2000)"
    )
    long, escaped = stdout.splitlines()
    assert len(long) < 1 << 16
    assert set(long.decode("utf-8")) == {"é"}
    assert escaped == b"a\\ud800"
    assert stderr.decode() == "\\udcff" + "é" * 1023 + "\n"


def test_descriptor_2_no_longer_leads_to_the_participant():
    stdout, stderr = written("import os, sys; os.write(2, b'one\\n'); sys.stderr.write('two\\n')")
    assert (stdout, stderr) == (b"one\ntwo\n", b"")


def test_descriptor_of_the_participant_is_not_inherited():
    calls = "import subprocess, sys; subprocess.run(['ls', '-1', '/proc/self/fd'], close_fds=False)"
    before = subprocess.run(["ls", "-1", "/proc/self/fd"], capture_output=True, check=True).stdout
    assert len(written(calls)[0].split()) == len(before.split())
