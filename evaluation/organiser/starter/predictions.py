"""Predictions of a chosen quality, made of a reference: displaced, eroded, jittered, graded, and some wrong.

They are made of the views of a kind, so no kind has anything of its own for them.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.field import Kind, Variant
from evaluation.core.form import CaseForm
from evaluation.core.views import Choices, Numbers, Objects, Regions, Voxels
from evaluation.io.kinds.label_map import spacing_of
from evaluation.io.kinds.survival import ObservedTime
from evaluation.io.volumes import case_geometry
from evaluation.metrics.arrays import Bools, Floats
from evaluation.metrics.crops import Crop

ORDINARY, POOR = 1.0, 3.0
"""Deviations of predictions as people know them, and of a case that went wrong."""

# All in multiples of the deviation.
_MISSED, _MISNAMED, _FALSE = 0.12, 0.05, 0.5  # shares of the objects; false ones of each case
_WRONG_CHOICES, _ANY_CHOICE = 0.2, 0.4  # of the wrong ones, any of the options
_APART = 1.6  # means of the scores of present and absent, in standard deviations: an AUC of 0.87
_OF_RANGE, _OF_NUMBER, _OF_TIME = 0.06, 0.2, 0.8
_OF_SIDE, _OF_RADIUS, _OF_IMAGE = 0.06, 0.4, 0.01
_SHIFT, _EROSION, _RUGGED = 0.16, 0.08, 0.08  # in depths of a structure, from its border to its middle
_DEEPEST = 0.7
_MARGIN = 4


@dataclass(frozen=True)
class Predictor:
    """Predicts the values of one case.

    deviation: how far they are from the reference, 0 not at all, 1 as of an ordinary method, 3 as of a poor
    one. radius: within which a point hits, None where no metric says so.
    """

    case: CaseForm
    random: np.random.Generator
    deviation: float = ORDINARY
    radius: float | None = None

    def predicted(self, kind: Kind, reference: Any) -> Any:
        """Return a prediction, or an example where a kind derives none from its reference."""
        case = self.case
        if isinstance(reference, ObservedTime):
            time = reference.time * math.exp(_OF_TIME * self._noise(1)[0])
            return kind.rehearse(reference._replace(time=time), case, Variant.PERFECT)
        if kind.rehearse(reference, case, Variant.NEAR) is None:  # other labels judge it
            return kind.example(case, self.random)
        value = kind.rehearse(reference, case, Variant.PERFECT)
        if view := kind.objects:
            if view.of_numbered and view.numbered:
                return self._components(view, value)
            if view.value:
                return self._listed(view, value, kind)
        if (regions := kind.regions) and regions.value:
            return self._regions(regions, value)
        if (voxels := kind.voxels) and voxels.value:
            return self._voxels(voxels, value)
        if kind.numbers:
            return self._numbers(kind.numbers, value)
        return self._choices(kind.choices, value) if kind.choices else value

    def _noise(self, count: int) -> Floats:
        return self.deviation * self.random.standard_normal(count)

    def _happens(self, share: float, count: int) -> Bools:
        return self.random.random(count) < share * self.deviation

    def _confidences(self, right: bool, count: int) -> Floats:
        """Return confidences above 0 and below 1, shape (count,): higher for what is there."""
        scores = _APART / 2 * (1 if right else -1) + self._noise(count)
        return np.clip(1 / (1 + np.exp(-scores)), 0.001, 0.999).round(3)

    # --- Numbers and decisions ---

    def _numbers(self, view: Numbers, value: Any) -> Any:
        """Return scores of what is present or absent, and other numbers with an error."""
        (low, high), given = view.bounds, np.array(view.of(value), float)
        bounded = math.isfinite(low) and math.isfinite(high)
        ends = (low, high) if bounded else (0.0, 1.0)
        noise = self._noise(len(given))
        if np.isin(given, ends).all():
            scores = _APART * (given == ends[1]) - _APART / 2 + noise
            found = low + (high - low) / (1 + np.exp(-scores)) if bounded else scores
        else:
            error = _OF_RANGE * (high - low) * noise if bounded else given * np.expm1(_OF_NUMBER * noise)
            found = given + error
        found = np.clip(found.round(3), low, high)
        if len(given) > 1 and math.isclose(given.sum(), 1):
            found = (found / found.sum()).round(3)
            found[found.argmax()] += 1 - found.sum()
        return view.value(found.tolist())

    def _choices(self, view: Choices, value: Any) -> Any:
        """Return decisions of which some are wrong, mostly by one place in the list of options."""
        last = len(view.options) - 1
        found = []
        for option in view.of(value):
            chosen = int(self.random.integers(last + 1)) if option is None else option
            if self._happens(_WRONG_CHOICES, 1)[0]:
                up = chosen == 0 or (chosen < last and self.random.random() < 0.5)
                chosen += 1 if up else -1
                if last > 1 and self.random.random() < _ANY_CHOICE:
                    chosen = int(self.random.integers(last + 1))
            found.append(chosen)
        return view.value(found)

    # --- Listed points and boxes ---

    def _listed(self, view: Objects, value: Any, kind: Kind) -> Any:
        """Return objects with errors of their places; of any number, some are missed and some false."""
        assert view.value is not None
        case, rows, axes = self.case, view.of(value).copy(), view.axes
        others = rows[:0]
        if view.number == "any":
            rows = rows[~self._happens(_MISSED, len(rows))]
            count = self.random.poisson(_FALSE * self.deviation)
            made_up = kind.example(case, self.random)
            others = others if made_up is None else view.of(made_up)[:count].copy()
        if view.with_confidence:
            rows[:, 1] = self._confidences(True, len(rows))
            others[:, 1] = self._confidences(False, len(others))
        sides = rows[:, 2 + axes :] - rows[:, 2 : 2 + axes]
        sizes = np.array((case.width or 100, case.height or 100, 100)[:axes])
        if view.form == "box":
            rows[:, 2:] += _OF_SIDE * np.tile(sides, 2) * self._noise(2 * sides.size).reshape(-1, 2 * axes)
        else:
            error = _OF_IMAGE * sizes if self.radius is None else _OF_RADIUS * self.radius
            rows[:, 2:] += np.tile(error * self._noise(sides.size).reshape(sides.shape), 2)
        rows = np.concatenate([rows, others])[: view.most]
        if view.unit == "pixels":
            known = np.array([case.width or np.inf, case.height or np.inf, np.inf][:axes] * 2)
            rows[:, 2:] = np.clip(rows[:, 2:], 0, known)
        places = rows[:, 2:].round(1 if view.unit == "pixels" else 4).reshape(-1, 2, axes)
        rows[:, 2:] = np.sort(places, axis=1).reshape(-1, 2 * axes)
        return view.value(rows, case)

    # --- Structures, numbered objects and maps ---

    def _regions(self, view: Regions, value: Any) -> Any:
        assert view.value is not None
        shape, sides = self._grid(view.dimensions)
        masks = [self._deviating(mask.whole(shape) > 0, sides) for mask in view.of(value)]
        return view.value([Crop(mask, (0, 0, 0)) for mask in masks], self.case)

    def _grid(self, axes: int) -> tuple[tuple[int, int, int], tuple[float, ...]]:
        """Return the shape (z, y, x) of the image, and the sides of its voxels."""
        geometry = case_geometry(self.case, 3 if axes == 3 else 2)
        return geometry.shape, spacing_of(geometry) or (1.0, 1.0, 1.0)

    def _deviating(self, mask: Bools, sides: tuple[float, ...]) -> Bools:
        """Return a structure that is displaced, and eroded at a rugged border; never without a voxel."""
        from scipy.ndimage import distance_transform_edt, gaussian_filter, shift

        if not mask.any():
            return mask
        inside = distance_transform_edt(mask, sides)
        from_border = inside - distance_transform_edt(~mask, sides)
        depth, sizes = inside.max(), np.array(sides)
        way = self.random.standard_normal(3) * (np.array(mask.shape) > 1)
        way *= _SHIFT * self.deviation * depth / max(np.linalg.norm(way), 1e-9) / sizes
        rugged = gaussian_filter(self.random.standard_normal(mask.shape), depth / 2 / sizes)
        border = depth * min(_EROSION * self.deviation, _DEEPEST)
        border = border + depth * _RUGGED * self.deviation * rugged / max(rugged.std(), 1e-9)
        found: Bools = shift(from_border, way, order=1, mode="nearest") > border
        return found if found.any() else mask

    def _components(self, view: Objects, value: Any) -> Any:
        """Return numbered objects of which each deviates; some are missed, misnamed or false."""
        from scipy.ndimage import find_objects

        assert view.numbered is not None
        assert view.of_numbered is not None
        shape, _ = self._grid(view.axes)
        whole = view.numbered(value).whole(shape).astype(np.int32)
        given = view.of(value)
        drawn: NDArray[np.int32] = np.zeros(shape, np.int32)
        rows: list[tuple[float, float]] = []

        def draw(mask: Bools, place: tuple[slice, ...], row: tuple[float, float]) -> None:
            """Draw an object with the next number where nothing is drawn, if half of it is left."""
            free = mask & (drawn[place] == 0)
            if 2 * free.sum() > mask.sum() > 0:
                rows.append(row)
                drawn[place][free] = len(rows)

        missed, misnamed = self._happens(_MISSED, len(given)), self._happens(_MISNAMED, len(given))
        false = self._happens(_FALSE / 8, len(given))
        right, wrong = self._confidences(True, len(given)), self._confidences(False, len(given))
        for number, box in enumerate(find_objects(whole), start=1):
            if box is None:
                continue
            place = tuple(
                slice(max(one.start - _MARGIN, 0), min(one.stop + _MARGIN, side))
                for one, side in zip(box, shape, strict=True)
            )
            mask = self._deviating(whole[place] == number, (1.0, 1.0, 1.0))
            label = given[number - 1, 0]
            if misnamed[number - 1] and view.classes:
                label = (label + 1) % len(view.classes)
            if not missed[number - 1]:
                draw(mask, place, (label, right[number - 1]))
            if false[number - 1]:
                corner = self.random.integers(np.subtract(shape, mask.shape) + 1)
                other = tuple(map(slice, corner, corner + mask.shape))
                draw(mask & (whole[other] == 0), other, (label, wrong[number - 1]))
        return view.of_numbered(drawn, np.array(rows, float).reshape(-1, 2), self.case)

    def _voxels(self, view: Voxels, value: Any) -> Any:
        """Return a map that is displaced and blurred; its zeros are 0 but for the surroundings of others."""
        from scipy.ndimage import gaussian_filter, shift

        assert view.value is not None
        (_, height, width), _ = self._grid(view.dimensions)
        given = np.stack([plane.whole((height, width)).astype(float) for plane in view.of(value)])
        found = shift(given, [0, *self._noise(2)], order=1, mode="nearest")
        found = gaussian_filter(found, self.deviation * (np.array(found.shape) > 1))
        if given.min() == 0:
            found[found < 0.05 * given.max()] = 0
        return view.value(np.clip(found, given.min(), given.max()), self.case)
