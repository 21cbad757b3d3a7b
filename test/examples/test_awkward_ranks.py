"""The order of KiTS 2023 on teams that share places, computed from the arrays."""

import json
import shutil

import numpy as np
import pytest

from test import started
from test.examples.awkward import awkward_maps, spacing_of, write_maps
from test.examples.samples import EXAMPLES
from test.examples.segmentation import MASSES, near_surfaces

pytestmark = pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")
CASES = ("shifted", "missed", "split", "exchanged")


def teams():
    """Return the true volumes, and those that each team made; the last two made the same."""
    maps = {name: pair for name, pair in awkward_maps([1, 2, 3]).items() if name in CASES}
    true, made = ({name: pair[side] for name, pair in maps.items()} for side in (0, 1))
    block = np.zeros_like(true["missed"])
    block[0, 12:, 14:] = 1
    return true, {
        # The first has the lower surface Dice and the second the lower Dice: the tumour decides.
        "moved": {name: np.roll(of, 1, -1) for name, of in true.items()},
        "false_kidney": {name: of + block for name, of in true.items()},
        "tumour": {name: np.where(of == 2, 2, 1 * (true[name] > 0)) for name, of in made.items()},
        "as_is": made,
        "as_it_is": made,
    }


def test_teams_of_kits_in_their_order(tmp_path):
    (tmp_path / "teams").mkdir()
    true, made = teams()
    figures = {}
    for team, volumes in made.items():
        pairs = {name: (true[name], of.astype(np.uint16)) for name, of in volumes.items()}
        write_maps(tmp_path, "kidneys", pairs)
        (tmp_path / "submission").rename(tmp_path / "teams" / team)
        scans = [(*pair, spacing_of(number)) for number, pair in enumerate(pairs.values())]
        figures[team] = {key: round(of, 8) for key, of in near_surfaces(MASSES)(scans).items()}
    shutil.copy(EXAMPLES / "kits2023" / "phase.toml", tmp_path / "phase")
    given = (
        "--ground-truth",
        tmp_path / "phase",
        "--each",
        tmp_path / "teams",
        "--output",
        tmp_path / "results",
    )
    for command in (
        ("seal", tmp_path / "phase"),
        ("evaluate", *given),
        ("rank", tmp_path / "results", "--json"),
    ):
        done = started.run(*command)
        assert done.returncode == 0, done.stderr
    places = {
        team["team"]: team["boards"]["overall"]["place"]
        for team in json.loads(done.stdout)["phases"][0]["teams"]
    }

    def rank(team, key):
        return 1 + sum(other[key] > figures[team][key] for other in figures.values())

    means = {team: rank(team, "dice") + rank(team, "surface_dice") for team in figures}
    keys = {team: (means[team], -figures[team]["dice_tumour"]) for team in figures}
    assert means["moved"] == means["false_kidney"]
    assert places == {team: 1 + sum(other < keys[team] for other in keys.values()) for team in figures}
    assert sorted(places.values()) == [1, 2, 3, 4, 4]
