"""The exact words of every kind of message to participants, each once.

`table.json` holds them by phase and kind; other tests ask for a fault's kind, its place and the value found.
After a change of words, `python -m test.messages` makes the table anew from real faults: read its difference.
"""

import json
from pathlib import Path

FILE = Path(__file__).parent / "table.json"


def table() -> dict[str, dict[str, str]]:
    """Return the participants' line of each kind of fault, by the name of its phase."""
    return json.loads(FILE.read_text(encoding="utf-8"))
