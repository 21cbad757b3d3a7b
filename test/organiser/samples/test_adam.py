import argparse
from collections import Counter

import numpy as np
import pytest

from evaluation.challenges.adam import LESIONS
from evaluation.organiser.samples import adam
from evaluation.organiser.samples.adam import roughen

# Table 1 of the paper, and the severities of section 2.1.
TABLE_1 = {
    "train": {
        "amd": 89,
        "disc": 270,
        "fovea": 396,
        "lesions": (61, 38, 19, 13, 17),
        "severity": (28, 7, 4, 50),
    },
    "online": {
        "amd": 89,
        "disc": 265,
        "fovea": 400,
        "lesions": (49, 53, 30, 34, 10),
        "severity": (18, 7, 3, 61),
    },
    "onsite": {
        "amd": 89,
        "disc": 286,
        "fovea": 394,
        "lesions": (44, 39, 23, 21, 2),
        "severity": (24, 9, 3, 53),
    },
}
SEVERITIES = ("early", "middle", "advanced dry", "advanced wet")


def parsed(folder, *arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", default=folder)
    parser.add_argument("--name", default="adam-sample")
    parser.add_argument("--seed", type=int, default=5)
    adam.add_arguments(parser)
    return parser.parse_args(arguments)


@pytest.mark.parametrize("name", TABLE_1)
def test_a_full_set_has_the_counts_of_the_paper(name, tmp_path):
    arguments = parsed(tmp_path, "--set", name, "--width", "96", "--height", "92")
    eyes, expected = adam.draw_eyes(arguments, np.random.default_rng(5)), TABLE_1[name]
    assert len(eyes.cases) == len(eyes.severity) == 400
    assert sum(map(bool, eyes.severity)) == expected["amd"]
    assert tuple(map(eyes.severity.count, SEVERITIES)) == expected["severity"]
    shown = {structure: int(flags.sum()) for structure, flags in eyes.shows.items()}
    assert (shown.pop("disc"), shown.pop("fovea")) == (expected["disc"], expected["fovea"])
    assert tuple(shown[lesion] for lesion in LESIONS) == expected["lesions"]
    # 376 of the challenge's 1200 photographs came from the second camera.
    assert Counter((case.camera, case.width, case.height) for case in eyes.cases) == {
        ("Canon CR-2", 65, 65): 125,
        ("Zeiss Visucam 500", 96, 92): 275,
    }


def test_roughening_flips_a_share_inside_the_bounding_box_and_never_empties_a_mask():
    mask = np.full((300, 400), 255, dtype=np.uint8)
    mask[50:250, 100:300] = 0
    mask[50:150, 100:200] = 255
    flipped = roughen(mask, 0.2, np.random.default_rng(4)) != mask
    assert abs(np.count_nonzero(flipped) / (200 * 200) - 0.2) < 0.01
    assert not flipped[:50].any()
    assert not flipped[:, 300:].any()
    dot = np.full((5, 5), 255, dtype=np.uint8)
    np.testing.assert_array_equal(roughen(dot, 0.4, np.random.default_rng(0)), dot)
    dot[2, 3] = 0
    for seed in range(5):
        np.testing.assert_array_equal(roughen(dot, 0.4, np.random.default_rng(seed)), dot)
