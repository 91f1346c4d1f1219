"""Mean IoU of label maps by evaluate, or by counts of pairs of labels with NumPy, from PNG files.

The wheel of `evaluate` has no metrics, which it fetches; its metric counts each image by three histograms of NumPy
inside the package's machinery, and so it is here.
"""

import sys
from pathlib import Path

import numpy
from measure import measure
from PIL import Image

CLASSES, IGNORED = 19, 255


def maps(folder):
    for path in sorted(Path(folder).glob("*.png")):
        yield numpy.asarray(Image.open(path))


def scores(both, reference, prediction):
    with numpy.errstate(invalid="ignore"):
        iou, accuracy = both / (reference + prediction - both), both / reference
    return {"mIoU": numpy.nanmean(iou), "mAcc": numpy.nanmean(accuracy), "aAcc": both.sum() / reference.sum()}


def evaluated():
    import datasets
    import evaluate

    def histogram(labels):
        return numpy.histogram(labels, bins=CLASSES, range=(0, CLASSES - 1))[0]

    class MeanIoU(evaluate.Metric):
        def _info(self):
            image = datasets.Sequence(datasets.Sequence(datasets.Value("uint16")))
            features = datasets.Features({"predictions": image, "references": image})
            return evaluate.MetricInfo(description="", citation="", features=features)

        def _compute(self, predictions, references):
            total = numpy.zeros((3, CLASSES))
            for prediction, reference in zip(predictions, references, strict=True):
                prediction, reference = numpy.array(prediction), numpy.array(reference)
                kept = reference != IGNORED
                prediction, reference = prediction[kept], reference[kept]
                same = prediction[prediction == reference]
                total += [histogram(labels) for labels in (same, reference, prediction)]
            return scores(*total)

    metric = MeanIoU(cache_dir="cache")
    return metric.compute(predictions=list(maps("p")), references=list(maps("r")))


def counted():
    matrix = numpy.zeros((CLASSES, CLASSES), dtype=numpy.int64)
    for prediction, reference in zip(maps("p"), maps("r"), strict=True):
        kept = reference != IGNORED
        pairs = reference[kept].astype(numpy.int64) * CLASSES + prediction[kept]
        matrix += numpy.bincount(pairs, minlength=CLASSES * CLASSES).reshape(CLASSES, CLASSES)
    return scores(matrix.diagonal(), matrix.sum(1), matrix.sum(0))


measure({"evaluate": evaluated, "numpy": counted}[sys.argv[1]])
