"""The software bill of materials of an image; this file is run inside it, from standard input.

CycloneDX 1.5 in JSON: Python, its packages and the system's, each with version, package URL, and the
licence where one is declared. The same image gives the same bytes.
"""

import hashlib
import json
import platform
import re
import sys
import uuid
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import quote

_STATUS = Path("/var/lib/dpkg/status")
_OS_RELEASE = Path("/etc/os-release")
_NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # of URLs, RFC 9562
_LONGEST_LICENCE = 80


def bill(name: str, version: str, components: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the document about an application made of these components."""
    components = sorted(components, key=lambda component: str(component["bom-ref"]))
    digest = hashlib.sha256(json.dumps([name, version, components]).encode()).hexdigest()
    application = {"type": "container", "bom-ref": name, "name": name, "version": version}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, digest)}",
        "version": 1,
        "metadata": {"component": application},
        "components": components,
        "dependencies": [
            {"ref": name, "dependsOn": [component["bom-ref"] for component in components]},
            *({"ref": component["bom-ref"]} for component in components),
        ],
    }


def component(kind: str, name: str, version: str, url: str, licence: str = "") -> dict[str, Any]:
    """Return a component; its package URL is its reference too."""
    found: dict[str, Any] = {"type": kind, "bom-ref": url, "name": name, "version": version, "purl": url}
    if licence:
        found["licenses"] = [{"license": {"name": licence}}]
    return found


def python_components() -> Iterator[dict[str, Any]]:
    """Yield Python itself and the distributions that it finds."""
    version = platform.python_version()
    yield component("application", "cpython", version, f"pkg:generic/cpython@{version}", "PSF-2.0")
    for distribution in metadata.distributions():
        facts: Any = distribution.metadata
        name = re.sub(r"[-_.]+", "-", facts["Name"]).lower()
        licence = (facts.get("License-Expression") or facts.get("License") or "").strip()
        if "\n" in licence or len(licence) > _LONGEST_LICENCE:
            licence = ""  # the whole text of one
        url = f"pkg:pypi/{name}@{quote(distribution.version, safe='')}"
        yield component("library", name, distribution.version, url, licence)


def system_components(status: str, release: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the packages of dpkg's status file."""
    system = f"{release.get('ID', 'debian')}-{release.get('VERSION_ID', '')}".strip("-")
    for block in status.split("\n\n"):
        facts = dict(line.split(": ", 1) for line in block.splitlines() if re.match(r"[A-Z][\w-]*: ", line))
        if facts.get("Status", "").endswith(" installed"):
            version = quote(facts["Version"], safe="")
            name = quote(facts["Package"], safe="")
            vendor = release.get("ID", "debian")
            url = f"pkg:deb/{vendor}/{name}@{version}?arch={facts['Architecture']}&distro={system}"
            yield component("library", facts["Package"], facts["Version"], url)


def _release() -> dict[str, str]:
    lines = _OS_RELEASE.read_text(encoding="utf-8").splitlines() if _OS_RELEASE.is_file() else []
    return {key: value.strip('"') for key, _, value in (line.partition("=") for line in lines)}


def main() -> None:
    """Write the document about the image in which this runs."""
    from evaluation import __version__

    status = _STATUS.read_text(encoding="utf-8") if _STATUS.is_file() else ""
    # A distribution may be found twice, through two folders of one environment.
    found = {part["bom-ref"]: part for part in (*python_components(), *system_components(status, _release()))}
    json.dump(bill("evaluation", __version__, list(found.values())), sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
