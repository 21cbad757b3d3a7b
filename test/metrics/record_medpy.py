"""Print MedPy's surface distances of the masks of test_label_surfaces.py (``python -m`` this module).

MedPy is no dependency of the tests, since it is built from source for three figures. Recorded with 0.5.2.
"""

import sys

import numpy as np

SPACING_MM = (3.0, 0.7, 0.9)


def masks(seed: int) -> np.ndarray:
    """Return two ellipsoids, one of which may reach the border, shape (2, planes, rows, columns)."""
    generator = np.random.default_rng(seed)
    axes = np.indices((9, 24, 20))
    found = []
    for _ in range(2):
        centre, radii = generator.uniform((3, 8, 6), (6, 16, 14)), generator.uniform((1.5, 4, 4), (3.5, 9, 7))
        scaled = (axes - centre[:, None, None, None]) / radii[:, None, None, None]
        found.append((scaled**2).sum(axis=0) <= 1)
    return np.array(found)


if __name__ == "__main__":
    from medpy.metric import binary

    for number in range(4):
        pair = masks(number)
        found = [figure(*pair, SPACING_MM) for figure in (binary.hd, binary.hd95, binary.assd)]
        sys.stdout.write(f"{number}: {found}\n")
