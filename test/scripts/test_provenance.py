"""The provenance of an image, from a description as the engine gives it."""

import json
import os
import subprocess
import sys

import pytest

from test.repository import REPOSITORY

LABELS = {
    "org.opencontainers.image.base.name": "python:3.13-slim-trixie",
    "org.opencontainers.image.base.digest": "sha256:aa",
    "org.grand-challenge.evaluation.phase": "refuge-onsite",
    "org.grand-challenge.evaluation.manifest": "sha256:bb",
}
IMAGE = {
    "Id": "sha256:cc",
    "Created": "2026-01-02T03:04:05.678901234Z",
    "Config": {"Labels": LABELS},
    "RootFS": {"Type": "layers", "Layers": ["sha256:dd", "sha256:ee"]},
}


@pytest.mark.parametrize("commit", ["", "0123abcd"])
def test_statement(commit):
    done = subprocess.run(
        [sys.executable, REPOSITORY / "scripts" / "provenance.py"],
        input=json.dumps([IMAGE]),
        env=os.environ | {"SOURCE_COMMIT": commit},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    # https://in-toto.io/Statement/v1 and https://slsa.dev/spec/v1.0/provenance: what is required there.
    assert found["_type"] == "https://in-toto.io/Statement/v1"
    assert found["predicateType"] == "https://slsa.dev/provenance/v1"
    assert [part["digest"]["sha256"] for part in found["subject"]] == ["cc", "dd", "ee"]
    definition, details = found["predicate"]["buildDefinition"], found["predicate"]["runDetails"]
    assert definition["buildType"]
    assert definition["externalParameters"] == {"PHASE": "refuge-onsite", "BASE": "python:3.13-slim-trixie"}
    materials = {part["name"]: part["digest"] for part in definition["resolvedDependencies"]}
    assert materials["python:3.13-slim-trixie"] == {"sha256": "aa"}
    assert materials["ground-truth/refuge-onsite/manifest.json"] == {"sha256": "bb"}
    assert materials.get("sources") == ({"gitCommit": commit} if commit else None)
    assert details["builder"]["id"]
    assert details["metadata"]["finishedOn"] == "2026-01-02T03:04:05Z"
