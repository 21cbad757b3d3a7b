"""What an image was built of: an in-toto statement with SLSA provenance 1."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import evaluation
from evaluation.io.files import sha256_of_file
from evaluation.organiser.image.build import PACKAGE, BuiltImage, package_files

_BASE = "org.opencontainers.image.base"
_OURS = "org.grand-challenge.evaluation"
_DISTRIBUTION = "challenge-evaluation"


def provenance(image: BuiltImage) -> bytes:
    """Return the statement about an image as JSON.

    Sources in a git repository have their commit, and say whether what was built has uncommitted changes. The
    code of the package has the digest of its files besides, so that an installed package is identified too.
    The times are those of the build; ``created`` is the engine's, which is earlier where it reused a build.
    """
    labels, phase = image.labels, image.phase
    beside = [PACKAGE.parent / name for name in ("Dockerfile", "requirements.txt")]
    package = {"dirHash": _digest_of_package()}
    materials = [
        _material(labels[f"{_BASE}.name"], _digest(labels[f"{_BASE}.digest"])),
        _material(f"{phase.name}/manifest.json", _digest(labels[f"{_OURS}.manifest"])),
        {
            **_material(_DISTRIBUTION, package, _of_git(PACKAGE, beside)),
            "uri": f"pkg:pypi/{_DISTRIBUTION}@{evaluation.__version__}",
        },
    ]
    if state := _of_git(phase):
        materials.append(_material("phase", {}, state))
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {
                **_material(image.name, _digest(image.description["Id"])),
                "annotations": {"created": _seconds(datetime.fromisoformat(image.description["Created"]))},
            },
            *(
                _material(f"layer {number}", _digest(layer))
                for number, layer in enumerate(image.description["RootFS"]["Layers"], start=1)
            ),
        ],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:evaluation:build:2",
                "externalParameters": {"PHASE": labels[f"{_OURS}.phase"], "BASE": labels[f"{_BASE}.name"]},
                "resolvedDependencies": materials,
            },
            "runDetails": {
                "builder": {"id": "urn:evaluation:build"},
                "metadata": {"startedOn": _seconds(image.started), "finishedOn": _seconds(image.finished)},
            },
        },
    }
    return (json.dumps(statement, indent=1) + "\n").encode()


def _material(name: str, digest: dict[str, str], git: tuple[str, bool] | None = None) -> dict[str, Any]:
    if git is None:
        return {"name": name, "digest": digest}
    commit, changed = git
    return {
        "name": name,
        "digest": {**digest, "gitCommit": commit},
        "annotations": {"uncommittedChanges": changed},
    }


def _of_git(folder: Path, more: Sequence[Path] = ()) -> tuple[str, bool] | None:
    """Return the commit of a folder, and whether it or one of more files differs; None where it is in none.

    An installed package lies in no commit, although the environment may be in somebody's repository.
    """
    git = ["git", "-C", str(folder)]
    try:
        tracked = subprocess.run([*git, "ls-files", "."], capture_output=True, check=True)  # noqa: S603
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, check=True)  # noqa: S603
        status = [*git, "status", "--porcelain", "--untracked-files=all", "--", ".", *map(str, more)]
        changed = subprocess.run(status, capture_output=True, check=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return None
    return (head.stdout.decode().strip(), bool(changed.stdout)) if tracked.stdout else None


def _digest_of_package() -> str:
    """Return the SHA-256 of the list of the package's files with theirs (in-toto's `dirHash`)."""
    lines = sorted((name, sha256_of_file(path)) for name, path in package_files())
    return hashlib.sha256("".join(f"{digest}  {name}\n" for name, digest in lines).encode()).hexdigest()


def _digest(text: str) -> dict[str, str]:
    algorithm, _, value = text.partition(":")
    return {algorithm: value}


def _seconds(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
