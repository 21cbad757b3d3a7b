"""Annotations in other people's formats: COCO, YOLO, Pascal VOC, LabelMe and CVAT."""
