"""Where the repository and its bundled phases lie."""

from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PHASES = tuple(sorted(path.parent.name for path in REPOSITORY.glob("ground-truth/*/phase.toml")))
