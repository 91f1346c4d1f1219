"""LVIS data sets in memory."""

from __future__ import annotations

import json
import logging
import os
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from ..pycocotools import mask as mask_utils

__all__ = ["LVIS"]


class LVIS:
    """A data set, indexed by id.

    Args:
        annotation_path: The path of a file in LVIS's format, or its content as a dictionary.

    Attributes:
        dataset: The file: ``images``, ``annotations`` and ``categories``.
        anns: Annotations by id.
        cats: Categories by id.
        imgs: Images by id.
        img_ann_map: For each image id a list of annotations.
        cat_img_map: For each category id a list of image ids, one per annotation.
    """

    def __init__(self, annotation_path: Any) -> None:
        self.logger = logging.getLogger(__name__)
        self.logger.info("Loading annotations.")
        self.dataset = annotation_path if isinstance(annotation_path, dict) else self._load_json(annotation_path)
        assert isinstance(self.dataset, dict), f"found {type(self.dataset).__name__}: expected an object"
        self._create_index()

    def _load_json(self, path: Any) -> Any:
        with open(path) as file:
            return json.load(file)

    def _create_index(self) -> None:
        self.logger.info("Creating index.")
        self.img_ann_map: Any = defaultdict(list)
        self.cat_img_map: Any = defaultdict(list)
        self.anns: dict[Any, Any] = {}
        for annotation in self.dataset["annotations"]:
            self.anns[annotation["id"]] = annotation
            self.img_ann_map[annotation["image_id"]].append(annotation)
            self.cat_img_map[annotation["category_id"]].append(annotation["image_id"])
        self.imgs = {image["id"]: image for image in self.dataset["images"]}
        self.cats = {category["id"]: category for category in self.dataset["categories"]}
        self.logger.info("Index created.")

    def get_ann_ids(
        self, img_ids: Iterable[Any] | None = None, cat_ids: Iterable[Any] | None = None, area_rng: Any = None
    ) -> list[Any]:
        """Returns the ids of the annotations in these images, of these categories, between these areas.

        Args:
            img_ids: Image ids; None for all.
            cat_ids: Category ids; None for all. lvis needs them if ``area_rng`` is given.
            area_rng: Two areas, both excluded. With ``cat_ids``, annotations without an area above 0 are left out.
        """
        found = self.dataset["annotations"]
        if img_ids is not None:
            found = [one for image in img_ids for one in self.img_ann_map[image]]
        if cat_ids is None and area_rng is None:
            return [one["id"] for one in found]
        wanted = None if cat_ids is None else set(cat_ids)
        least, greatest = [0, float("inf")] if area_rng is None else area_rng
        return [
            one["id"]
            for one in found
            if (wanted is None or one["category_id"] in wanted) and least < one["area"] < greatest
        ]

    def get_cat_ids(self) -> list[Any]:
        """Returns the ids of all categories."""
        return list(self.cats)

    def get_img_ids(self) -> list[Any]:
        """Returns the ids of all images."""
        return list(self.imgs)

    def load_anns(self, ids: Iterable[Any] | None = None) -> list[Any]:
        """Returns the annotations of these ids; all for None."""
        return _loaded(self.anns, ids)

    def load_cats(self, ids: Iterable[Any] | None) -> list[Any]:
        """Returns the categories of these ids; all for None."""
        return _loaded(self.cats, ids)

    def load_imgs(self, ids: Iterable[Any] | None) -> list[Any]:
        """Returns the images of these ids; all for None."""
        return _loaded(self.imgs, ids)

    def download(self, save_dir: str, img_ids: Iterable[Any] | None = None) -> None:
        """Downloads images from the addresses in the data set.

        Args:
            save_dir: The directory to put them in.
            img_ids: Image ids; None for all.
        """
        from urllib.request import urlretrieve

        images = self.load_imgs(img_ids)
        os.makedirs(save_dir, exist_ok=True)
        for image in images:
            path = os.path.join(save_dir, os.path.basename(image["coco_url"]))
            if not os.path.exists(path):
                urlretrieve(image["coco_url"], path)

    def ann_to_rle(self, ann: dict[str, Any]) -> Any:
        """Returns the mask of an annotation: polygons are drawn and united, run lengths compressed."""
        image = self.imgs[ann["image_id"]]
        height, width = image["height"], image["width"]
        segmentation = ann["segmentation"]
        if isinstance(segmentation, list):
            return mask_utils.merge(mask_utils.frPyObjects(segmentation, height, width))
        if isinstance(segmentation["counts"], list):
            return mask_utils.frPyObjects(segmentation, height, width)
        return segmentation

    def ann_to_mask(self, ann: dict[str, Any]) -> Any:
        """Returns the image of an annotation's mask: uint8 of shape (height, width)."""
        return mask_utils.decode(self.ann_to_rle(ann))


def _loaded(table: dict[Any, Any], ids: Iterable[Any] | None) -> list[Any]:
    return list(table.values()) if ids is None else [table[one] for one in ids]
