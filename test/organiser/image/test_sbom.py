"""The bill of materials: the rules of CycloneDX 1.5 on this environment, and dpkg's status by hand."""

import json
import re
from importlib import metadata

from evaluation.organiser.image import sbom

STATUS = """Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.41-12+deb13u1
Description: GNU C Library
 with a second line: that is no field

Package: perl-base
Status: deinstall ok config-files
Architecture: amd64
Version: 5.40.1-6
"""


def test_it_follows_the_rules_of_cyclonedx_and_has_every_distribution_once(capsys):
    """https://cyclonedx.org/docs/1.5/json: required fields, enumerations, patterns, unique references."""
    sbom.main()
    document = json.loads(capsys.readouterr().out)
    assert (document["bomFormat"], document["specVersion"], document["version"]) == ("CycloneDX", "1.5", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", document["serialNumber"])
    allowed = {"$schema", "bomFormat", "specVersion", "serialNumber", "version", "metadata", "components"}
    assert set(document) == allowed | {"dependencies"}
    references = [document["metadata"]["component"]["bom-ref"]]
    for part in document["components"]:
        assert set(part) <= {"type", "bom-ref", "name", "version", "purl", "licenses"}
        assert part["type"] in ("application", "library")
        assert part["name"]
        assert re.fullmatch(r"pkg:[a-z]+/[^\s]+@[^\s@]+", part["purl"])
        for licence in part.get("licenses", []):
            assert set(licence) == {"license"}
            assert set(licence["license"]) == {"name"}
        references.append(part["bom-ref"])
    assert len(references) == len(set(references))
    assert [entry["ref"] for entry in document["dependencies"]] == references
    assert set(document["dependencies"][0]["dependsOn"]) == set(references[1:])
    names = [part["name"] for part in document["components"] if part["purl"].startswith("pkg:pypi/")]
    expected = {re.sub(r"[-_.]+", "-", found.metadata["Name"]).lower() for found in metadata.distributions()}
    assert len(names) == len(set(names))
    assert set(names) >= {"numpy", "pillow", "pydantic"}
    assert set(names) <= expected | {"challenge-evaluation"}
    (numpy,) = [part for part in document["components"] if part["name"] == "numpy"]
    assert numpy["purl"] == f"pkg:pypi/numpy@{metadata.version('numpy')}"


def test_installed_packages_of_the_system():
    (found,) = sbom.system_components(STATUS, {"ID": "debian", "VERSION_ID": "13"})
    assert found == {
        "type": "library",
        "bom-ref": "pkg:deb/debian/libc6@2.41-12%2Bdeb13u1?arch=amd64&distro=debian-13",
        "name": "libc6",
        "version": "2.41-12+deb13u1",
        "purl": "pkg:deb/debian/libc6@2.41-12%2Bdeb13u1?arch=amd64&distro=debian-13",
    }
