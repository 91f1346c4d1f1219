"""Mean IoU of label maps by evaluate, or by counts of pairs of labels with NumPy, from PNG files."""

import sys
from pathlib import Path

import numpy
from measure import measure
from PIL import Image

CLASSES, IGNORED = 19, 255


def maps(folder):
    for path in sorted(Path(folder).glob("*.png")):
        yield numpy.asarray(Image.open(path))


def evaluated():
    import evaluate

    result = evaluate.load("mean_iou").compute(
        predictions=list(maps("p")), references=list(maps("r")), num_labels=CLASSES, ignore_index=IGNORED
    )
    return {"mIoU": result["mean_iou"], "mAcc": result["mean_accuracy"], "aAcc": result["overall_accuracy"]}


def counted():
    matrix = numpy.zeros((CLASSES, CLASSES), dtype=numpy.int64)
    for prediction, reference in zip(maps("p"), maps("r"), strict=True):
        kept = reference != IGNORED
        pairs = reference[kept].astype(numpy.int64) * CLASSES + prediction[kept]
        matrix += numpy.bincount(pairs, minlength=CLASSES * CLASSES).reshape(CLASSES, CLASSES)
    both, reference, prediction = matrix.diagonal(), matrix.sum(1), matrix.sum(0)
    with numpy.errstate(invalid="ignore"):
        iou, accuracy = both / (reference + prediction - both), both / reference
    return {"mIoU": numpy.nanmean(iou), "mAcc": numpy.nanmean(accuracy), "aAcc": both.sum() / reference.sum()}


measure({"evaluate": evaluated, "numpy": counted}[sys.argv[1]])
