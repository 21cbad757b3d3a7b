"""Write recorded_box_fusion.json: results of ensemble-boxes for the data of test_boxes.py.

ensemble-boxes is no dependency of the tests, since it needs a compiler (numba) for one figure. It is the code
of the paper's authors. Recorded with ensemble-boxes 1.0.9; it keeps fused corners in single precision.
"""

import json
from pathlib import Path

import numpy as np

Model = tuple[list[list[float]], list[float], list[int]]
SIDE = 100


def models_of(seed: int) -> list[Model]:
    """Return boxes in an image of 100 × 100 pixels, scores and classes of three models."""
    generator = np.random.default_rng(seed)
    objects = generator.integers(5, 60, (5, 2))
    models: list[Model] = []
    for _ in range(3):
        boxes, scores, classes = [], [], []
        for number, (x, y) in enumerate(objects.tolist()):
            for _ in range(int(generator.integers(0, 3))):
                shift = generator.integers(-4, 5, 4)
                boxes.append([x + shift[0], y + shift[1], x + 30 + shift[2], y + 30 + shift[3]])
                scores.append(float(generator.integers(1, 10_000)) / 10_000)
                classes.append(number % 2)
        models.append(([[float(corner) for corner in box] for box in boxes], scores, classes))
    return models


if __name__ == "__main__":
    from ensemble_boxes import nms, weighted_boxes_fusion

    def rows(found: tuple[np.ndarray, np.ndarray, np.ndarray]) -> list[list[float]]:
        boxes, scores, classes = found
        return [
            [int(label), round(float(score), 6), *(round(float(corner) * SIDE, 4) for corner in box)]
            for box, score, label in zip(boxes, scores, classes, strict=True)
        ]

    recorded = []
    for seed in range(3):
        given = models_of(seed)
        boxes = [(np.array(model[0]).reshape(-1, 4) / SIDE).tolist() for model in given]
        scores, classes = [model[1] for model in given], [model[2] for model in given]
        recorded.append(["wbf", seed, rows(weighted_boxes_fusion(boxes, scores, classes, iou_thr=0.5))])
        recorded.append(["nms", seed, rows(nms(boxes, scores, classes, iou_thr=0.5))])
    lines = ",\n".join(map(json.dumps, recorded))
    Path(__file__).with_name("recorded_box_fusion.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
