"""Look for files that are read here and that Pillow, ITK or tifffile read differently.

    .venv/bin/python scripts/fuzz_differential.py [SECONDS] [FIRST_SEED]

Every seed gives one changed file. A finding is written to finding-SEED…; its cause becomes a row of the tests
of its reader. Ends with status 1 if there was a finding.
"""

import sys
import time
from collections import Counter
from itertools import count
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from test.hostile.differential import disagreements


def main(seconds: float = 60, first_seed: int = 0) -> int:
    """Compare for a time and return the status."""
    end = time.monotonic() + seconds
    files: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    findings = 0
    for seed in count(first_seed):
        if time.monotonic() > end:
            break
        kind, data, differences, is_accepted = disagreements(Random(seed))  # noqa: S311 - to be repeated
        files[kind] += 1
        accepted[kind] += is_accepted
        if differences:
            findings += 1
            Path(f"finding-{seed}.{kind.partition('.')[2]}").write_bytes(data)
            sys.stdout.write(f"seed {seed}, {kind}: {differences[0][:200]}\n")
    for kind, number in sorted(files.items()):
        sys.stdout.write(f"{kind}: {number} files, {accepted[kind]} accepted\n")
    sys.stdout.write(f"{findings} findings\n")
    return int(findings > 0)


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:2]), *map(int, sys.argv[2:3])))
