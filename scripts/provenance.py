"""Writes what an image was built of: an in-toto statement with SLSA provenance 1, to standard output.

    docker image inspect IMAGE | python scripts/provenance.py

It reads the labels that build.sh gives an image, its layers, and from the environment variable
SOURCE_COMMIT the commit of the sources ("" where they are in no repository).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

_BUILD_TYPE = "urn:evaluation:build.sh:1"
_BASE = "org.opencontainers.image.base"
_OURS = "org.grand-challenge.evaluation"


def statement(image: Mapping[str, Any], commit: str) -> dict[str, Any]:
    """Return the statement about an image, as `docker image inspect` describes it."""
    labels = image["Config"]["Labels"]
    phase = labels[f"{_OURS}.phase"]
    materials = [
        {"name": labels[f"{_BASE}.name"], "digest": _digest(labels[f"{_BASE}.digest"])},
        {"name": f"ground-truth/{phase}/manifest.json", "digest": _digest(labels[f"{_OURS}.manifest"])},
    ]
    if commit:
        materials.append({"name": "sources", "digest": {"gitCommit": commit}})
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": f"evaluation-{phase}", "digest": _digest(image["Id"])},
            *(
                {"name": f"layer {number}", "digest": _digest(layer)}
                for number, layer in enumerate(image["RootFS"]["Layers"], start=1)
            ),
        ],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": _BUILD_TYPE,
                "externalParameters": {"PHASE": phase, "BASE": labels[f"{_BASE}.name"]},
                "resolvedDependencies": materials,
            },
            "runDetails": {
                "builder": {"id": "build.sh"},
                "metadata": {"finishedOn": _seconds(image["Created"])},
            },
        },
    }


def _digest(text: str) -> dict[str, str]:
    algorithm, _, value = text.partition(":")
    return {algorithm: value}


def _seconds(time: str) -> str:
    """Return a time of Docker's (RFC 3339) without fractions of a second."""
    return time.partition(".")[0].removesuffix("Z") + "Z"


def main() -> None:
    """Write the statement about the image whose description comes on standard input."""
    (image,) = json.load(sys.stdin)
    json.dump(statement(image, os.environ.get("SOURCE_COMMIT", "")), sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
