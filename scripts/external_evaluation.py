#!/usr/bin/env python3
"""Evaluates algorithms on grand-challenge.org here; GRAND_CHALLENGE_AUTHORIZATION holds a token."""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import gcapi

FAULT = "The evaluation stopped because of a fault of the organisers', not of your submission."


def outcome(evaluation, program, phase, folder):
    """Return what the platform is told of an evaluation: the metrics, or the participant's message."""
    given = folder / "submission"
    (folder / "evaluation.json").write_text(json.dumps(evaluation), encoding="utf-8")
    subprocess.run([program, folder / "evaluation.json", given], check=True)
    command = ["evaluate", "--input", given, "--ground-truth", phase, "--output", folder / "output"]
    called = [sys.executable, "-m", "evaluation", *command]
    done = subprocess.run(called, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        line = (done.stderr.strip() or FAULT).splitlines()[-1]
        return {"status": "Failed", "error_message": line[:1024]}
    return {"status": "Succeeded", "metrics": json.loads((folder / "output" / "metrics.json").read_bytes())}


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("phase", help="the key of the phase on the platform, a UUID")
parser.add_argument("ground_truth", type=Path, help="the sealed phase folder")
words = "the program that runs algorithms: gets evaluation.json and the folder to write"
parser.add_argument("--run", required=True, help=words)
parser.add_argument("--url", default="https://grand-challenge.org/api/v1/", help="default: %(default)s")
parser.add_argument("--once", action="store_true", help="end when nothing is waiting")
options = parser.parse_args()
api, wanted = gcapi.Client(base_url=options.url), {"submission__phase": options.phase}
status = 0
while True:
    for waiting in api(path="evaluations/claimable_evaluations/", params=wanted):
        place, end = f"evaluations/{waiting['pk']}", {"status": "Failed", "error_message": FAULT}
        try:
            claimed = api("PATCH", path=f"{place}/claim/", json={})
            with tempfile.TemporaryDirectory() as folder:
                try:  # without an end, this claim would keep the next one from being made
                    end = outcome(claimed, options.run, options.ground_truth, Path(folder))
                finally:
                    api("PATCH", path=f"{place}/update_external_evaluation/", json=end)
            print(f"{waiting['pk']}: {end['status']}")
        except Exception as error:  # refused, too late, the program failed, the machine is short of something
            status = 1
            answer = getattr(getattr(error, "response", None), "text", "")
            print(f"{waiting['pk']}: {error} {answer}".strip(), file=sys.stderr)
    if options.once:
        sys.exit(status)
    time.sleep(60)
