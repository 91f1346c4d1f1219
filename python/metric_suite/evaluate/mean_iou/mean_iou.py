"""Mean IoU of label maps, as Hugging Face's evaluate computes it.

Maps are lists, arrays, images of PIL or tensors of torch. They are counted when they are added, and not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import datasets
import evaluate
import numpy

from metric_suite._native import LabelPairs

_DESCRIPTION = "Mean over classes of the intersection over union of the pixels of both sides."
_INPUTS = """
Args:
    predictions: Maps of labels, each of the shape (height, width).
    references: Maps of labels of the same shapes.
    num_labels: Number of classes.
    ignore_index: Label of the references whose pixels do not count.
    nan_to_num: Number in the place of undefined scores, after the means were formed.
    label_map: Labels of the references with the labels that take their places, all by their original value.
    reduce_labels: Whether to ignore the label 0 and to subtract 1 from the others.
"""


def _array(value: Any) -> Any:
    """Returns a map as an array of a type that is counted without a copy where possible."""
    array = numpy.asarray(value)
    while array.ndim > 2 and 1 in (array.shape[0], array.shape[-1]):
        array = array[0] if array.shape[0] == 1 else array[..., 0]
    if array.dtype.kind not in "biu":
        raise ValueError(f"expected maps of integers, found {array.dtype}; scores of classes need an argmax first")
    if not array.dtype.isnative or array.dtype == numpy.uint64:
        array = array.astype(numpy.int64)
    return array


class MeanIoU(evaluate.Metric):
    """The metric; counts of the maps that were added are kept, and not the maps."""

    _pairs: Any = None

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": datasets.Sequence(datasets.Sequence(datasets.Value("uint16"))),
                    "references": datasets.Sequence(datasets.Sequence(datasets.Value("uint16"))),
                }
            ),
            reference_urls=["https://github.com/open-mmlab/mmsegmentation"],
        )

    def add(self, *, prediction: Any = None, reference: Any = None, **kwargs: Any) -> None:
        """Adds an image."""
        self.add_batch(predictions=[prediction], references=[reference])

    def add_batch(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> None:
        """Adds images: lists of maps, or arrays of the shape (images, height, width); an array of the shape (height, width) is one."""
        if getattr(predictions, "ndim", 0) == getattr(references, "ndim", 0) == 2:
            predictions, references = [predictions], [references]
        if len(predictions) != len(references):
            raise ValueError(f"found {len(predictions)} predictions and {len(references)} references: expected as many")
        if self._pairs is None:
            self._pairs = LabelPairs()
        for prediction, reference in zip(predictions, references, strict=True):
            self._pairs.add(_array(prediction), _array(reference))

    def _compute(self, predictions: Any, references: Any, **kwargs: Any) -> dict[str, Any]:
        return self.compute(predictions=predictions, references=references, **kwargs)

    def compute(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> dict[str, Any]:
        """Returns the scores of all images that were added."""
        if predictions is not None:
            self.add_batch(predictions=predictions, references=references)
        if self._pairs is None:
            raise ValueError("expected predictions and references, or an earlier add_batch")
        pairs, self._pairs = self._pairs, None
        return self._scores(pairs, **kwargs)

    def _scores(
        self,
        pairs: Any,
        num_labels: int,
        ignore_index: int | None,
        nan_to_num: float | None = None,
        label_map: Mapping[int, int] | None = None,
        reduce_labels: bool = False,
    ) -> dict[str, Any]:
        mapped = [(int(old), int(new)) for old, new in (label_map or {}).items()]
        scores = pairs.scores(num_labels, ignore_index, mapped, reduce_labels)

        def number(value: float | None) -> float:
            found = float("nan") if value is None else value
            return float(nan_to_num) if value is None and nan_to_num is not None else found

        def numbers(values: Iterable[float | None]) -> Any:
            return numpy.array([number(value) for value in values])

        iou, accuracy, overall, of_classes, accuracies = scores
        return {
            "mean_iou": number(iou),
            "mean_accuracy": number(accuracy),
            "overall_accuracy": number(overall),
            "per_category_iou": numbers(of_classes),
            "per_category_accuracy": numbers(accuracies),
        }
