"""The PASCAL VOC rules, word by word and in exact fractions: slow, plain, and independent of the package.

An image is a pair of lists: predictions (class, confidence, x1, y1, x2, y2) and references (class, x1, y1,
x2, y2), with integer corners that both belong to the box.
"""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Judged:
    confidence: float
    iou: Fraction
    right: bool


def iou(first, second):
    width = min(first[2], second[2]) - max(first[0], second[0]) + 1
    height = min(first[3], second[3]) - max(first[1], second[1]) + 1
    common = max(width, 0) * max(height, 0)
    areas = [(box[2] - box[0] + 1) * (box[3] - box[1] + 1) for box in (first, second)]
    return Fraction(common, sum(areas) - common)


def judge(images, names, label, threshold):
    """Return a class's detections by descending confidence (ties: name, line), and the number of boxes."""
    detections = [
        (-confidence, names[number], line, number, tuple(corners))
        for number, (predictions, _) in enumerate(images)
        for line, (of_class, confidence, *corners) in enumerate(predictions)
        if of_class == label
    ]
    boxes = [[box[1:] for box in references if box[0] == label] for _, references in images]
    taken = set()
    judged = []
    for negated, _, _, number, corners in sorted(detections, key=lambda detection: detection[:3]):
        best, best_iou = None, Fraction(-1)
        for position, box in enumerate(boxes[number]):
            if iou(corners, box) > best_iou:
                best, best_iou = position, iou(corners, box)
        right = best is not None and best_iou >= threshold and (number, best) not in taken
        if right:
            taken.add((number, best))
        judged.append(Judged(-negated, best_iou, right))
    return judged, sum(map(len, boxes))


def average_precision(images, names, label, threshold):
    """Return the area under the precision–recall curve, None without a reference box."""
    judged, boxes = judge(images, names, label, threshold)
    if boxes == 0:
        return None
    recalls, precisions = [Fraction(0)], [Fraction(0)]
    right = 0
    for rank, detection in enumerate(judged, start=1):
        right += detection.right
        recalls.append(Fraction(right, boxes))
        precisions.append(Fraction(right, rank))
    recalls.append(Fraction(1))
    precisions.append(Fraction(0))
    for position in range(len(precisions) - 2, -1, -1):
        precisions[position] = max(precisions[position], precisions[position + 1])
    return sum(
        (recalls[position + 1] - recalls[position]) * precisions[position + 1]
        for position in range(len(recalls) - 1)
        if recalls[position + 1] != recalls[position]
    )


def eleven_points(images, names, label, threshold):
    """Return the mean of the best precision at recall 0, 0.1, … 1 or more, None without a reference box."""
    judged, boxes = judge(images, names, label, threshold)
    if boxes == 0:
        return None
    points, right = [], 0
    for rank, detection in enumerate(judged, start=1):
        right += detection.right
        if right:
            points.append((Fraction(right, boxes), Fraction(right, rank)))
    levels = [Fraction(number, 10) for number in range(11)]
    best = [
        max((precision for recall, precision in points if recall >= level), default=0) for level in levels
    ]
    return Fraction(sum(best), 11)


def mean_iou(images, names, label, threshold, with_missed):
    """Return the mean IoU of a class's detections, false ones counting 0; None without a reference box."""
    judged, boxes = judge(images, names, label, threshold)
    if boxes == 0:
        return None
    right = [detection.iou for detection in judged if detection.right]
    denominator = len(judged) + (boxes - len(right) if with_missed else 0)
    return sum(right) / denominator if denominator else Fraction(0)
