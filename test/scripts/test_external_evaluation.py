"""The script for evaluations on machines of the organisers, against a server with the platform's rules.

Submissions are algorithms, so that there is no file of predictions. A claim is refused to who has claimed one
before, unless the stand-in forgets claims that have ended; an update needs a claim that is not too old, and
has one of two ends. Source: the view set of evaluations in comic/grand-challenge.org.
"""

import json
import os
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from test.phases import refuge_phase, refuge_submission
from test.repository import REPOSITORY

PHASE, OTHER = "11111111-0000-4000-8000-000000000001", "11111111-0000-4000-8000-000000000002"
TOKEN = "0123456789abcdef"
CASES = 10


class Platform:
    """The evaluations of the platform, of which one may be late: its time is over at once.

    ``forgets``: a claim that has ended does not count any more.
    """

    def __init__(self):
        self.late, self.evaluations, self.most_claims, self.forgets = None, {}, 0, True

    def add(self, number, phase=PHASE):
        key = f"22222222-0000-4000-8000-{number:012d}"
        submission = {"pk": f"s{number}", "predictions_file": None, "creator": {"username": "ana"}}
        self.evaluations[key] = {
            "pk": key, "phase_pk": phase, "submission": submission, "status": "Queued", "claimed": False,
            "algorithm_image": {}, "outputs": [], "error_message": "",
        }  # fmt: skip
        return key

    def get(self, path, query):
        if path == "/api/v1/gcapi/":
            return 200, {"latest_version": "0.0.1", "lowest_supported_version": "0.0.1"}
        if path == "/api/v1/evaluations/claimable_evaluations/":
            phases = query.get("submission__phase", [PHASE, OTHER])
            waiting = (one for one in self.evaluations.values() if one["status"] == "Queued")
            return 200, [one for one in waiting if one["phase_pk"] in phases]
        return 404, {}

    def patch(self, path, content):
        key, action = path.removeprefix("/api/v1/evaluations/").strip("/").split("/")
        found = self.evaluations[key]
        known = ("Claimed",) if self.forgets else ("Claimed", "Succeeded", "Failed", "Cancelled")
        claimed = [one for one in self.evaluations.values() if one["claimed"] and one["status"] in known]
        if action == "claim":
            if found["status"] != "Queued":
                return 400, {"status": "You can only claim pending evaluations."}
            if claimed:
                return 400, {"status": "You can only claim one evaluation at a time."}
            found.update(status="Claimed", claimed=True)
            self.most_claims = max(self.most_claims, len(claimed) + 1)
            return 200, found
        if found["status"] != "Claimed":
            return 400, {"status": "You need to claim an evaluation before you can update it."}
        if key == self.late:
            found.update(status="Cancelled", error_message="External evaluation timed out.")
            return 400, {"status": "The evaluation was not updated in time."}
        keys = {"Succeeded": "metrics", "Failed": "error_message"}
        if content.get("status") not in keys or set(content) != {"status", keys[content["status"]]}:
            return 400, {"status": "invalid"}
        found.update(content)
        return 200, content


@pytest.fixture
def certificate(tmp_path):
    key, file = tmp_path / "key.pem", tmp_path / "certificate.pem"
    options = ["-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-keyout", key, "-out", file, *options]
    subprocess.run(made, check=True, capture_output=True)
    return file, key


@pytest.fixture
def platform(certificate):
    stand_in = Platform()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

        def answer(self, status, content):
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            kind = "application/zip" if isinstance(content, bytes) else "application/json"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self):
            split = urlsplit(self.path)
            if split.path != "/api/v1/gcapi/" and self.headers["Authorization"] != f"BEARER {TOKEN}":
                self.answer(401, {})
                return
            self.answer(*stand_in.get(split.path, parse_qs(split.query)))

        def do_PATCH(self):
            content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.answer(*stand_in.patch(urlsplit(self.path).path, content))

    server = ThreadingHTTPServer(("localhost", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    stand_in.address = f"https://localhost:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield stand_in
    server.shutdown()
    server.server_close()


@pytest.fixture
def run(platform, certificate, tmp_path):
    """Return a function that runs the script once, on a small phase."""
    phase = refuge_phase(tmp_path / "phase", CASES)

    def once(*arguments):
        script = REPOSITORY / "scripts" / "external_evaluation.py"
        environment = os.environ | {"SSL_CERT_FILE": str(certificate[0]), "PYTHONPATH": str(REPOSITORY)}
        environment["GRAND_CHALLENGE_AUTHORIZATION"] = TOKEN
        url = f"{platform.address}/api/v1/"
        return subprocess.run(
            [sys.executable, script, PHASE, phase, "--url", url, "--once", *arguments],
            env=environment, capture_output=True, text=True, timeout=300,
        )  # fmt: skip

    return once


@pytest.fixture
def program(tmp_path):
    """Return a program that runs algorithms: it takes what lies below the key of the submission."""
    path = tmp_path / "program"
    find = """sed -n 's/.*"pk": "\\(s[0-9]*\\)".*/\\1/p' "$1" """
    path.write_text(f'#!/bin/sh\ngrep -q algorithm_image "$1" && cp -r "{tmp_path}/$({find})" "$2"\n')
    path.chmod(0o755)
    return path


def test_every_end_of_an_evaluation(platform, run, program, tmp_path):
    for number in (1, 2, 4):
        refuge_submission(tmp_path / f"s{number}", CASES)
    (tmp_path / "s2" / "classification_results.csv").unlink()
    names = ("scored", "rejected", "program fails", "late")
    keys = {name: platform.add(number) for number, name in enumerate(names, start=1)}
    platform.late = keys["late"]
    elsewhere = platform.add(9, phase=OTHER)
    done = run("--run", str(program))
    assert done.returncode == 1
    found = {name: platform.evaluations[key] for name, key in keys.items()}
    assert [one["status"] for one in found.values()] == ["Succeeded", "Failed", "Failed", "Cancelled"]
    assert found["scored"]["metrics"]["aggregates"]["classification"]["auc"]["value"] == 1
    assert found["rejected"]["error_message"].startswith("Submission rejected")
    assert "a fault of the organisers'" in found["program fails"]["error_message"]
    for name in ("program fails", "late"):
        assert keys[name] in done.stderr
    assert "was not updated in time" in done.stderr
    assert platform.evaluations[elsewhere]["status"] == "Queued"
    assert platform.most_claims == 1


def test_without_a_program_nothing_is_claimed(platform, run):
    key = platform.add(1)
    done = run()
    assert done.returncode == 2
    assert "--run" in done.stderr
    assert platform.evaluations[key]["status"] == "Queued"


def test_a_refused_claim_is_told_and_leaves_the_evaluation_waiting(platform, run, program, tmp_path):
    refuge_submission(tmp_path / "s1", CASES)
    platform.forgets = False
    first, second = platform.add(1), platform.add(2)
    done = run("--run", str(program))
    assert done.returncode == 1
    assert platform.evaluations[first]["status"] == "Succeeded"
    assert platform.evaluations[second]["status"] == "Queued"
    assert "You can only claim one evaluation at a time." in done.stderr
