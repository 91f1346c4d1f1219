"""Made-up boxes with the average precision of Padilla's Object-Detection-Metrics.

usage: python voc_padilla.py LIB > voc_padilla.jsonl

LIB is the folder `lib` of rafaelpadilla/Object-Detection-Metrics at revision dcb285e. It needs numpy; the packages that
it draws with need not be installed. Boxes are [x, y, width, height] in whole pixels. The program adds one pixel to each
width and height. An object is [image, class, box] and a detection is [image, class, score, box]. Detections are in the
order of their file, which decides between equal scores. The average precision of a class without objects is null.
"""
import json
import random
import sys
import warnings
from unittest.mock import MagicMock

THRESHOLDS = [0.3, 0.5, 0.75, 1.0]


def box(rng):
    return [rng.randrange(60), rng.randrange(60), rng.choice([1, 5, 10, 20, 30]), rng.choice([1, 5, 10, 20, 30])]


def moved(rng, box):
    by = rng.choice([0, 0, 1, 2, 5])
    x, y, width, height = (number + rng.randint(-by, by) for number in box)
    return [x, y, max(1, width), max(1, height)]


def data_set(rng):
    images, classes = rng.choice([1, 2, 5]), rng.choice([1, 2, 3])
    objects = [[rng.randrange(images), rng.randrange(classes), box(rng)] for _ in range(rng.choice([1, 3, 10, 25]))]
    levels = rng.choice([2, 10, 1000])
    detections = []
    for image, name, wanted in objects:
        for _ in range(rng.choice([0, 1, 1, 1, 2])):
            name = rng.randrange(classes) if rng.random() < 0.1 else name
            detections.append([image, name, rng.randint(1, levels) / levels, moved(rng, wanted)])
    for _ in range(rng.choice([0, 1, 5])):
        detections.append([rng.randrange(images), rng.randrange(classes), rng.randint(1, levels) / levels, box(rng)])
    rng.shuffle(detections)
    return objects, detections


def main(lib):
    warnings.simplefilter("ignore")
    for other in ["cv2", "matplotlib", "matplotlib.pyplot"]:
        sys.modules[other] = MagicMock()
    sys.path.insert(0, lib)
    from BoundingBox import BoundingBox
    from BoundingBoxes import BoundingBoxes
    from Evaluator import Evaluator
    from utils import BBFormat, BBType, CoordinatesType, MethodAveragePrecision

    def boxes(objects, detections):
        absolute = {"typeCoordinates": CoordinatesType.Absolute, "format": BBFormat.XYWH}
        all_boxes = BoundingBoxes()
        for image, name, box in objects:
            all_boxes.addBoundingBox(BoundingBox(str(image), name, *box, bbType=BBType.GroundTruth, **absolute))
        for image, name, score, box in detections:
            detected = {"bbType": BBType.Detected, "classConfidence": score}
            all_boxes.addBoundingBox(BoundingBox(str(image), name, *box, **detected, **absolute))
        return all_boxes

    def score(objects, detections, threshold):
        classes = {}
        for name, method in [
            ("every_point", MethodAveragePrecision.EveryPointInterpolation),
            ("11_point", MethodAveragePrecision.ElevenPointInterpolation),
        ]:
            for found in Evaluator().GetPascalVOCMetrics(boxes(objects, detections), threshold, method):
                positives = found["total positives"]
                counts = {"n_gt": positives, "tp": int(found["total TP"]), "fp": int(found["total FP"])}
                row = classes.setdefault(str(found["class"]), counts)
                row[name] = float(found["AP"]) if positives else None
        return classes

    source = "made-up boxes, by voc_padilla.py next to this file; results of Object-Detection-Metrics (Padilla), dcb285e"
    print(json.dumps({"_about": {"source": source, "licence": "MIT OR Apache-2.0"}}))
    rng = random.Random(20261127)
    for place in range(120):
        objects, detections = data_set(rng)
        threshold = rng.choice(THRESHOLDS)
        row = {"id": f"voc-{place:03}", "iou_threshold": threshold, "objects": objects, "detections": detections}
        print(json.dumps(row | {"classes": score(objects, detections, threshold)}))


main(*sys.argv[1:])
