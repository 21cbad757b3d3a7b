"""Tells what reports of pip-audit say; see vulnerabilities.sh.

    python scripts/vulnerabilities.py REPORT…

Status 0: no vulnerability is known. 1: some are. 3: no report tells anything of any package.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

NONE_KNOWN, SOME_KNOWN, NOT_CHECKED = 0, 1, 3


def main(paths: Sequence[str]) -> int:
    """Write one line for each vulnerability and each package that was not checked; return the status."""
    checked: set[str] = set()
    skipped: dict[str, str] = {}
    known: set[str] = set()
    for path in map(Path, paths):
        # Without a database to ask, pip-audit writes no report.
        report = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"dependencies": []}
        for package in report["dependencies"]:
            if "skip_reason" in package:
                skipped[package["name"]] = package["skip_reason"]
                continue
            name = f"{package['name']} {package['version']}"
            checked.add(package["name"])
            for fault in package["vulns"]:
                fixed = ", ".join(fault["fix_versions"]) or "no version"
                known.add(f"{name}: {fault['id']}, fixed in {fixed}")
    if not checked:
        sys.stdout.write("no database of vulnerabilities answered: nothing was checked\n")
        return NOT_CHECKED
    unchecked = [f"{name}: not checked, {skipped[name]}" for name in sorted(skipped.keys() - checked)]
    sys.stdout.write("".join(f"{line}\n" for line in (*sorted(known), *unchecked)))
    sys.stdout.write(f"{len(checked)} packages checked, {len(known)} known vulnerabilities\n")
    return SOME_KNOWN if known else NONE_KNOWN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
