"""Panoptic quality with the interface of ``panopticapi.evaluation``."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..._metric import score_files

__all__ = [
    "OFFSET",
    "PQStat",
    "PQStatCat",
    "VOID",
    "pq_compute",
    "pq_compute_multi_core",
    "pq_compute_single_core",
]

OFFSET = 256 * 256 * 256
VOID = 0

_Path = str | os.PathLike[str]

_KINDS: tuple[tuple[str, bool | None], ...] = (("All", None), ("Things", True), ("Stuff", False))


class PQStatCat:
    """The counts of a category: the sum of the IoU of matches, and matches, false positives and missed segments."""

    def __init__(self) -> None:
        self.iou = 0.0
        self.tp = 0
        self.fp = 0
        self.fn = 0

    def __iadd__(self, pq_stat_cat: PQStatCat) -> PQStatCat:
        self.iou += pq_stat_cat.iou
        self.tp += pq_stat_cat.tp
        self.fp += pq_stat_cat.fp
        self.fn += pq_stat_cat.fn
        return self


class PQStat:
    """The counts of all categories, by id."""

    def __init__(self) -> None:
        self.pq_per_cat: defaultdict[int, PQStatCat] = defaultdict(PQStatCat)

    def __getitem__(self, i: int) -> PQStatCat:
        return self.pq_per_cat[i]

    def __iter__(self) -> Iterator[int]:
        return iter(self.pq_per_cat)

    def __iadd__(self, pq_stat: PQStat) -> PQStat:
        for label, counts in pq_stat.pq_per_cat.items():
            self.pq_per_cat[label] += counts
        return self

    def pq_average(
        self, categories: Mapping[int, Mapping[str, Any]], isthing: bool | None
    ) -> tuple[dict[str, Any], dict[int, dict[str, float]]]:
        """Returns the means over categories that have segments, and the scores of each category.

        ``isthing`` chooses things or stuff; ``None`` stands for all categories. Scores of categories without segments are 0.

        Raises:
            ZeroDivisionError: No such category has segments.
        """
        per_class, sums, n = {}, [0.0, 0.0, 0.0], 0
        for label, category in categories.items():
            if isthing is not None and isthing != (category["isthing"] == 1):
                continue
            counts = self.pq_per_cat[label]
            if counts.tp + counts.fp + counts.fn == 0:
                per_class[label] = {"pq": 0.0, "sq": 0.0, "rq": 0.0}
                continue
            n += 1
            total = counts.tp + 0.5 * counts.fp + 0.5 * counts.fn
            scores = [counts.iou / total, counts.iou / counts.tp if counts.tp else 0.0, counts.tp / total]
            per_class[label] = dict(zip(("pq", "sq", "rq"), scores))
            sums = [sum_ + score for sum_, score in zip(sums, scores)]
        means: dict[str, Any] = {name: sum_ / n for name, sum_ in zip(("pq", "sq", "rq"), sums)}
        return {**means, "n": n}, per_class


def _stat(references: _Path, predictions: _Path, gt_folder: _Path, pred_folder: _Path, threads: int | None) -> PQStat:
    result = score_files(
        "panoptic",
        str(references),
        str(predictions),
        reference_folder=str(gt_folder),
        prediction_folder=str(pred_folder),
        quirks="panopticapi",
        details=True,
        threads=threads,
    )
    stat = PQStat()
    for category in result.details["categories"]:
        counts = stat[category["id"]]
        counts.iou, counts.tp, counts.fp, counts.fn = (category[name] for name in ("iou", "tp", "fp", "fn"))
    return stat


def _of_annotations(
    pairs: Sequence[tuple[Any, Any]],
    gt_folder: _Path,
    pred_folder: _Path,
    categories: Mapping[int, Mapping[str, Any]],
    threads: int | None,
) -> PQStat:
    """The counts of pairs of annotations, which the engine reads from files."""
    if not pairs:
        return PQStat()
    listed = [{"id": label, **category} for label, category in categories.items()]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("gt.json", "pred.json")]
        for path, annotations in zip(paths, zip(*pairs)):
            path.write_text(json.dumps({"annotations": list(annotations), "categories": listed}), encoding="utf-8")
        return _stat(paths[0], paths[1], gt_folder, pred_folder, threads)


def pq_compute_single_core(
    proc_id: int, annotation_set: Sequence[tuple[Any, Any]], gt_folder: _Path, pred_folder: _Path, categories: Mapping[int, Any]
) -> PQStat:
    """Returns the counts of pairs of annotations, of the ground truth and of the prediction."""
    return _of_annotations(annotation_set, gt_folder, pred_folder, categories, 1)


def pq_compute_multi_core(
    matched_annotations_list: Sequence[tuple[Any, Any]], gt_folder: _Path, pred_folder: _Path, categories: Mapping[int, Any]
) -> PQStat:
    """Returns the same on all cores. Unlike in panopticapi, the result does not depend on their number."""
    return _of_annotations(matched_annotations_list, gt_folder, pred_folder, categories, None)


def pq_compute(
    gt_json_file: _Path,
    pred_json_file: _Path,
    gt_folder: _Path | None = None,
    pred_folder: _Path | None = None,
    *,
    strict: bool = True,
) -> dict[str, Any]:
    """Scores files, prints a table, and returns the scores.

    With ``strict=False``, the scores of kinds of categories without segments are ``None`` instead of an error.

    Raises:
        ZeroDivisionError: No category, or no category of things or of stuff, has segments.
        MetricError: A file is invalid.
    """
    start = time.time()
    with open(gt_json_file, encoding="utf-8") as file:
        categories = {category["id"]: category for category in json.load(file)["categories"]}
    folders = [
        str(path).replace(".json", "") if folder is None else folder
        for path, folder in ((gt_json_file, gt_folder), (pred_json_file, pred_folder))
    ]
    stat = _stat(gt_json_file, pred_json_file, folders[0], folders[1], None)
    results: dict[str, Any] = {}
    for name, isthing in _KINDS:
        try:
            results[name], per_class = stat.pq_average(categories, isthing)
        except ZeroDivisionError:
            if strict:
                raise
            results[name] = {"pq": None, "sq": None, "rq": None, "n": 0}
            continue
        if name == "All":
            results["per_class"] = per_class
    print(f"{'':10s}| {'PQ':>5s}  {'SQ':>5s}  {'RQ':>5s} {'N':>5s}")
    print("-" * (10 + 7 * 4))
    for name, _ in _KINDS:
        pq, sq, rq = (100 * (results[name][score] or 0.0) for score in ("pq", "sq", "rq"))
        print(f"{name:10s}| {pq:5.1f}  {sq:5.1f}  {rq:5.1f} {results[name]['n']:5d}")
    print(f"Time elapsed: {time.time() - start:0.2f} seconds")
    return results


def main() -> None:
    """Scores files: ``python -m metric_suite.compat.panopticapi.evaluation --gt_json_file FILE --pred_json_file FILE``."""
    import argparse

    parser = argparse.ArgumentParser(description="Prints the panoptic quality of predictions.")
    parser.add_argument("--gt_json_file", required=True, help="the file of the ground truth")
    parser.add_argument("--pred_json_file", required=True, help="the file of the predictions")
    for side in ("gt", "pred"):
        parser.add_argument(f"--{side}_folder", help="the folder of its PNG files (default: the path of the file without .json)")
    pq_compute(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
