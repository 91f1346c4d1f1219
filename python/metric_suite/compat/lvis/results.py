"""Detections of an LVIS data set."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ..pycocotools import mask as mask_utils
from .lvis import LVIS

__all__ = ["LVISResults"]


class LVISResults(LVIS):
    """Detections as a data set of the same images.

    Args:
        lvis_gt: The data set, an ``LVIS`` or the path of its file.
        results: The path of a results file, or a list of dictionaries. They are not changed: ``id``, ``area``, ``bbox``
            and ``segmentation`` are completed in copies.
        max_dets: The number of detections that stay in each image, those of the highest scores over all categories; below
            0 for all.

    Raises:
        AssertionError: If the results are not a list, or one is of an unknown image.
    """

    def __init__(self, lvis_gt: Any, results: Any, max_dets: int = 300) -> None:
        self.logger = logging.getLogger(__name__)
        if isinstance(lvis_gt, LVIS):
            dataset = lvis_gt.dataset
        elif isinstance(lvis_gt, str):
            dataset = self._load_json(lvis_gt)
        else:
            raise TypeError(f"lvis_gt: found {type(lvis_gt).__name__}: expected LVIS or a path")
        self.logger.info("Loading and preparing results.")
        found = self._load_json(results) if isinstance(results, str) else results
        assert isinstance(found, list), "results are not a list of objects"
        if max_dets >= 0:
            found = self.limit_dets_per_image(found, max_dets)
        form = next((key for key in ("bbox", "segmentation") if found and key in found[0]), None)
        forms: dict[str | None, Any] = {"bbox": _with_box, "segmentation": _with_mask, None: dict}
        complete = forms[form]
        found = [{**complete(one), "id": number} for number, one in enumerate(found, 1)]
        self.dataset = {**dataset, "annotations": found}
        self._create_index()
        unknown = {one["image_id"] for one in found} - set(self.imgs)
        assert not unknown, f"results have images that the data set lacks, such as {next(iter(unknown))!r}"

    def limit_dets_per_image(self, anns: Sequence[Any], max_dets: int) -> list[Any]:
        """Returns the detections of the highest scores of each image; equal scores keep their order."""
        by_image: Any = defaultdict(list)
        for one in anns:
            by_image[one["image_id"]].append(one)
        found = []
        for of_image in by_image.values():
            if len(of_image) > max_dets:
                of_image = sorted(of_image, key=lambda one: one["score"], reverse=True)[:max_dets]
            found += of_image
        return found

    def get_top_results(self, img_id: Any, score_thrs: float) -> list[Any]:
        """Returns the detections of an image with a higher score."""
        return [one for one in self.load_anns(self.get_ann_ids(img_ids=[img_id])) if one["score"] > score_thrs]


def _with_box(one: dict[str, Any]) -> dict[str, Any]:
    left, top, width, height = one["bbox"]
    right, bottom = left + width, top + height
    rectangle = [[left, top, left, bottom, right, bottom, right, top]]
    return {"segmentation": rectangle, **one, "area": width * height}


def _with_mask(one: dict[str, Any]) -> dict[str, Any]:
    mask = one["segmentation"]
    area = mask_utils.area(mask)
    return {**one, "bbox": one["bbox"] if "bbox" in one else mask_utils.toBbox(mask), "area": area}
