"""A stand-in for the engine's client: it builds and saves nothing, and notes what it was asked.

Its folder is the first argument. Files in it change what it answers: `platform`, `no-engine`, `build-says`
and `save-fails`. An image is known once it was built or pulled.
"""

import json
import sys
import tarfile
from pathlib import Path

STATE, COMMAND, *ARGUMENTS = Path(sys.argv[1]), *sys.argv[2:]


def value_of(option: str) -> str:
    return ARGUMENTS[ARGUMENTS.index(option) + 1]


def image_file(name: str) -> Path:
    return STATE / name.replace("/", "_").replace(":", "_").replace("latest", "")


def build() -> None:
    if "--label" in ARGUMENTS:
        parent = sys.stdin.read().removeprefix("FROM ").removesuffix("\n")
        assert image_file(parent).exists()
        given = [ARGUMENTS[place + 1] for place, option in enumerate(ARGUMENTS) if option == "--label"]
        labels = dict(item.split("=", 1) for item in given)
    else:
        labels = {}
        with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as context:
            (STATE / "context").write_text("".join(f"{m.mode:o} {m.mtime} {m.name}\n" for m in context))
        if (STATE / "build-says").exists():
            sys.stderr.write((STATE / "build-says").read_text())
            sys.exit(1)
    image_file(value_of("--tag")).write_text(json.dumps(labels))


def inspect(name: str) -> None:
    if not image_file(name).exists():
        sys.stderr.write(f"Error: No such image: {name}\n")
        sys.exit(1)
    system, architecture = (STATE / "platform").read_text().split("/")
    description = {
        "Id": "sha256:cc",
        "RepoDigests": ["python@sha256:aa"] if name.startswith("python") else [],
        "Os": system,
        "Architecture": architecture,
        "Config": {"Labels": json.loads(image_file(name).read_text())},
    }
    sys.stdout.write(json.dumps([description]))


with (STATE / "log").open("a") as log:
    log.write(json.dumps([COMMAND, *ARGUMENTS]) + "\n")
if COMMAND == "info" and (STATE / "no-engine").exists():
    sys.exit("Cannot connect to the Docker daemon")
elif COMMAND == "image" and ARGUMENTS[0] == "rm":
    image_file(ARGUMENTS[1]).unlink()
elif COMMAND == "image":
    inspect(ARGUMENTS[1])
elif COMMAND == "pull":
    image_file(ARGUMENTS[-1]).write_text("{}")
elif COMMAND == "build":
    build()
elif COMMAND == "run":
    sys.stdout.write(f"1.2.3 {(STATE / 'manifest').read_text()}\n")
elif COMMAND == "save":
    sys.stdout.write(f"{ARGUMENTS[0]}\n")
    sys.exit((STATE / "save-fails").exists())
