"""Makes the table of messages anew; its difference shows every word that has changed."""

import json
import tempfile
from pathlib import Path

from . import FILE
from .faults import FAULTS
from .lines import line_of


def main() -> None:
    content: dict[str, dict[str, str]] = {}
    for phase, faults in FAULTS.items():
        content[phase] = {}
        for name, spoil in faults.items():
            with tempfile.TemporaryDirectory() as folder:
                content[phase][name] = line_of(phase, spoil, Path(folder))
    FILE.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
