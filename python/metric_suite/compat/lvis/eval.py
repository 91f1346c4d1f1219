"""LVIS's evaluation of boxes and masks."""

from __future__ import annotations

import copy
import datetime
import logging
from collections import OrderedDict, defaultdict
from typing import Any

import numpy

from ... import _native
from ..pycocotools import cocoeval
from ..pycocotools import mask as mask_utils
from .lvis import LVIS
from .results import LVISResults

__all__ = ["LVISEval", "Params"]

# Methods that decide how an image is evaluated, and that a subclass may override.
_STEPS = ("compute_iou", "evaluate_img")

# The names of an entry of ``eval_imgs``, each with the one that pycocotools has for it.
_ENTRY = {"dt_scores": "dtScores", "dt_matches": "dtMatches", "dt_ignore": "dtIgnore", "gt_ignore": "gtIgnore"}


class LVISEval:
    """Evaluates detections against a data set.

    Args:
        lvis_gt: The data set, an ``LVIS`` or the path of its file.
        lvis_dt: The detections: ``LVISResults``, the path of a results file, or a list of dictionaries.
        iou_type: ``"segm"`` or ``"bbox"``.

    Attributes:
        params: The definition, a ``Params``; change it before ``evaluate``.
        eval: After ``accumulate``: ``precision`` of shape (thresholds, recalls, categories, areas), ``recall`` of the same
            without recalls, ``dt_pointers``, ``counts``, ``params`` and ``date``. -1 where no ground-truth object counts.
        results: After ``summarize``: the 13 numbers by name, -1 where they are undefined.
        eval_imgs: After ``evaluate``: for each category, area and image in turn what matched, or None.
        ious: After ``evaluate``: by image and category the overlaps of detections and true objects.
        freq_groups: The positions of the categories of each frequency.

    Everything is evaluated by the engine at once. ``eval_imgs``, ``ious`` and ``dt_pointers`` are filled when they are
    first read. Where a subclass overrides ``compute_iou`` or ``evaluate_img``, or ``eval_imgs`` was assigned, each step
    runs by itself.
    """

    def __init__(self, lvis_gt: Any, lvis_dt: Any, iou_type: str = "segm") -> None:
        self.logger = logging.getLogger(__name__)
        if iou_type not in ("bbox", "segm"):
            raise ValueError(f"iou_type {iou_type!r} is not supported: expected 'bbox' or 'segm'")
        if not isinstance(lvis_gt, (LVIS, str)):
            raise TypeError(f"lvis_gt: found {type(lvis_gt).__name__}: expected LVIS or a path")
        self.lvis_gt = LVIS(lvis_gt) if isinstance(lvis_gt, str) else lvis_gt
        if not isinstance(lvis_dt, (LVISResults, str, list)):
            raise TypeError(f"lvis_dt: found {type(lvis_dt).__name__}: expected LVISResults, a path or a list")
        self.lvis_dt: LVIS = lvis_dt if isinstance(lvis_dt, LVISResults) else LVISResults(self.lvis_gt, lvis_dt)
        self.eval: dict[str, Any] = {}
        self.results: OrderedDict[str, Any] = OrderedDict()
        self.params = Params(iou_type=iou_type)
        self.params.img_ids = sorted(self.lvis_gt.get_img_ids())
        self.params.cat_ids = sorted(self.lvis_gt.get_cat_ids())
        self._gts: Any = defaultdict(list)
        self._dts: Any = defaultdict(list)
        self._eval_imgs: Any = defaultdict(list)
        self._ious: Any = {}
        # Precision and recall, where the engine has evaluated everything at once.
        self._arrays: Any = None

    @property
    def eval_imgs(self) -> Any:
        if self._eval_imgs is None:
            p = self.params
            self._eval_imgs = [
                LVISEval.evaluate_img(self, image, category, area)
                for category in _categories(p)
                for area in p.area_rng
                for image in p.img_ids
            ]
        return self._eval_imgs

    @eval_imgs.setter
    def eval_imgs(self, value: Any) -> None:
        self._eval_imgs, self._arrays = value, None

    @property
    def ious(self) -> Any:
        if self._ious is None:
            p = self.params
            pairs = [(image, category) for image in p.img_ids for category in _categories(p)]
            self._ious = {pair: LVISEval.compute_iou(self, *pair) for pair in pairs}
        return self._ious

    @ious.setter
    def ious(self, value: Any) -> None:
        self._ious = value

    def _prepare(self) -> None:
        """Sorts annotations and detections by image and category, into ``_gts`` and ``_dts``."""
        p = self.params
        categories = p.cat_ids if p.cat_ids else None
        chosen = [
            (data, [dict(one) for one in data.load_anns(data.get_ann_ids(img_ids=p.img_ids, cat_ids=categories))])
            for data in (self.lvis_gt, self.lvis_dt)
        ]
        if p.iou_type == "segm":
            for data, objects in chosen:
                for one in objects:
                    one["segmentation"] = data.ann_to_rle(one)
        (_, truths), (_, detections) = chosen
        present = defaultdict(set)
        for one in truths:
            one.setdefault("ignore", 0)
            # The field has no effect.
            one["iscrowd"] = 0
            present[one["image_id"]].add(one["category_id"])
        images = self.lvis_gt.load_imgs(p.img_ids)
        self.img_nel = {image["id"]: image["not_exhaustive_category_ids"] for image in images}
        self._negative = {image["id"]: image["neg_category_ids"] for image in images}
        detections = [
            one
            for one in detections
            if one["category_id"] in self._negative[one["image_id"]] or one["category_id"] in present[one["image_id"]]
        ]
        self._gts, self._dts = cocoeval._by_image(truths), cocoeval._by_image(detections)
        self.freq_groups = self._prepare_freq_group()

    def _prepare_freq_group(self) -> list[list[int]]:
        groups: list[list[int]] = [[] for _ in self.params.img_count_lbl]
        for position, category in enumerate(self.lvis_gt.load_cats(self.params.cat_ids)):
            groups[self.params.img_count_lbl.index(category["frequency"])].append(position)
        return groups

    def evaluate(self) -> None:
        """Evaluates each image and category."""
        self.logger.info("Running per image evaluation.")
        p = self.params
        p.img_ids = list(numpy.unique(p.img_ids))
        self._prepare()
        self.eval_imgs, self.eval = defaultdict(list), {}
        arrays = None
        if all(getattr(type(self), step) is getattr(LVISEval, step) for step in _STEPS):
            arrays = self._by_the_engine()
        if arrays is None:
            pairs = [(image, category) for image in p.img_ids for category in _categories(p)]
            self.ious = {pair: self.compute_iou(*pair) for pair in pairs}
            self.eval_imgs = [
                self.evaluate_img(image, category, area)
                for category in _categories(p)
                for area in p.area_rng
                for image in p.img_ids
            ]
        else:
            self._ious = self._eval_imgs = None
            self._arrays = arrays
            self._evaluated = copy.deepcopy(p)

    def _by_the_engine(self) -> Any:
        """Returns precision and recall, or None for what the engine does not take."""
        p = self.params
        as_coco = cocoeval.Params(iouType=p.iou_type)
        as_coco.iouThrs, as_coco.recThrs, as_coco.areaRng, as_coco.maxDets = p.iou_thrs, p.rec_thrs, p.area_rng, [1]
        if not cocoeval._is_plain(as_coco) or not p.use_cats:
            return None
        images = {image: position for position, image in enumerate(p.img_ids)}
        categories = {category: position for position, category in enumerate(p.cat_ids)}

        def listed(lists: Any) -> list[list[int]]:
            known = ([categories[one] for one in lists[image] if one in categories] for image in p.img_ids)
            return [sorted(set(positions)) for positions in known]

        try:
            truths = cocoeval._columns(self._gts, images, categories, p.iou_type, "iscrowd")
            detections = cocoeval._columns(self._dts, images, categories, p.iou_type, "score")
            every = [one for objects in self._gts.values() for one in objects]
            truths["ignore"] = numpy.array([bool(one["ignore"]) for one in every], dtype=bool)
            federated = (listed(self._negative), listed(self.img_nel))
        except (KeyError, TypeError, ValueError):
            return None
        if not all(numpy.isfinite(one).all() for one in (detections["number"], truths["area"], detections["area"])):
            return None
        if len(every) != len(truths["image"]):
            return None
        for columns in (truths, detections):
            columns["has_id"] = columns.pop("id") != 0
        definition = {
            "images": len(p.img_ids),
            "classes": len(p.cat_ids),
            "iou_thresholds": [float(threshold) for threshold in p.iou_thrs],
            "recall_thresholds": [float(threshold) for threshold in p.rec_thrs],
            "areas": [(float(least), float(greatest)) for least, greatest in p.area_rng],
            "max_detections": [1],
            "by_class": True,
            "sigmas": [],
            "federated": federated,
        }
        try:
            precision, recall, _ = _native.coco_arrays(definition, truths, detections)
        except ValueError:
            # Such as an invalid mask: the steps say what is wrong.
            return None
        shape = [len(p.iou_thrs), len(p.rec_thrs), len(p.cat_ids), len(p.area_rng)]
        return precision.reshape(shape), recall.reshape([shape[0], *shape[2:]])

    def _get_gt_dt(self, img_id: Any, cat_id: Any) -> Any:
        # Without categories lvis looks for the category -1, which has no objects.
        return self._gts[img_id, cat_id], self._dts[img_id, cat_id]

    def compute_iou(self, img_id: Any, cat_id: Any) -> Any:
        """Returns the overlap of each detection, by falling score, with each true object."""
        truths, detections = self._get_gt_dt(img_id, cat_id)
        if len(truths) == 0 and len(detections) == 0:
            return []
        detections = cocoeval._by_score(detections, None)
        key = "segmentation" if self.params.iou_type == "segm" else "bbox"
        return mask_utils.iou([one[key] for one in detections], [one[key] for one in truths], [0] * len(truths))

    def evaluate_img(self, img_id: Any, cat_id: Any, area_rng: Any) -> Any:
        """Matches the detections of an image and category with its true objects, in an area range.

        Returns:
            dict: ``dt_matches`` and ``gt_matches`` with a row per threshold, of the ids of matches or 0; ``dt_ignore`` of
            the same shape; ``gt_ignore``, ``dt_ids``, ``gt_ids`` and ``dt_scores``. None if there are no objects.
        """
        p = self.params
        truths, detections = self._get_gt_dt(img_id, cat_id)
        if len(truths) == 0 and len(detections) == 0:
            return None

        def is_outside(one: Any) -> bool:
            return bool(one["area"] < area_rng[0] or one["area"] > area_rng[1])

        for one in truths:
            one["_ignore"] = int(bool(one["ignore"]) or is_outside(one))
        order = numpy.argsort([one["_ignore"] for one in truths], kind="mergesort")
        truths = [truths[position] for position in order]
        detections = cocoeval._by_score(detections, None)
        ious = self.ious[img_id, cat_id]
        count = len(p.iou_thrs)
        matched, taken = numpy.zeros((count, len(detections))), numpy.zeros((count, len(truths)))
        ignores = numpy.zeros((count, len(detections)))
        if len(ious) > 0:
            as_coco = cocoeval.Params(iouType=p.iou_type)
            as_coco.iouThrs = p.iou_thrs
            cocoeval.COCOeval._match(ious[:, order], truths, detections, as_coco, matched, taken, ignores)
        not_exhaustive = self.img_nel[img_id]
        does_not_count = [is_outside(one) or one["category_id"] in not_exhaustive for one in detections]
        return {
            "image_id": img_id,
            "category_id": cat_id,
            "area_rng": area_rng,
            "dt_ids": [one["id"] for one in detections],
            "gt_ids": [one["id"] for one in truths],
            "dt_matches": matched,
            "gt_matches": taken,
            "dt_scores": [one["score"] for one in detections],
            "gt_ignore": numpy.array([one["_ignore"] for one in truths]),
            "dt_ignore": (ignores != 0) | ((matched == 0) & numpy.array(does_not_count, dtype=bool)),
        }

    def accumulate(self) -> None:
        """Computes precision and recall of all images, into ``eval``."""
        self.logger.info("Accumulating evaluation results.")
        p = self.params
        if self._arrays is None and not self.eval_imgs:
            self.logger.warning("Please run evaluate() first.")
        if self._arrays is not None and _same(p, self._evaluated):
            precision, recall = (array.copy() for array in self._arrays)
        else:
            precision, recall = self._accumulated()
        self.eval = _Eval(self)
        self.eval.update(
            params=p,
            counts=list(precision.shape),
            date=datetime.datetime.now().strftime("%Y-%m-%d %H:%M:%S"),
            precision=precision,
            recall=recall,
        )

    def _entries(self) -> Any:
        """Yields the positions of each category and area, with its entries."""
        p = self.params
        images = len(p.img_ids)
        for k in range(len(_categories(p))):
            for a in range(len(p.area_rng)):
                first = (k * len(p.area_rng) + a) * images
                yield k, a, [one for one in self.eval_imgs[first : first + images] if one is not None]

    def _accumulated(self) -> Any:
        """Returns precision and recall of ``eval_imgs``."""
        p = self.params
        as_coco = cocoeval.Params(iouType=p.iou_type)
        as_coco.iouThrs, as_coco.recThrs = p.iou_thrs, p.rec_thrs
        shape = [len(p.iou_thrs), len(p.rec_thrs), len(_categories(p)), len(p.area_rng)]
        precision, recall = -numpy.ones(shape), -numpy.ones([shape[0], *shape[2:]])
        for k, a, found in self._entries():
            renamed = [{theirs: one[ours] for ours, theirs in _ENTRY.items()} for one in found]
            curves = cocoeval._curves(renamed, None, as_coco) if renamed else None
            if curves is not None:
                precision[:, :, k, a], recall[:, k, a], _ = curves
        return precision, recall

    def _dt_pointers(self) -> Any:
        """Returns for each category and area the detections by falling score, and where they are right and wrong."""
        pointers: Any = {}
        for k, a, found in self._entries():
            to = pointers.setdefault(k, {}).setdefault(a, {})
            if not found or not any((one["gt_ignore"] == 0).any() for one in found):
                continue
            scores = numpy.concatenate([one["dt_scores"] for one in found])
            order = numpy.argsort(-scores, kind="mergesort")
            matched, ignored = (
                numpy.concatenate([one[name] for one in found], axis=1)[:, order] for name in ("dt_matches", "dt_ignore")
            )
            to["dt_ids"] = numpy.concatenate([one["dt_ids"] for one in found])[order]
            to["tps"] = numpy.logical_and(matched, numpy.logical_not(ignored))
            to["fps"] = numpy.logical_and(numpy.logical_not(matched), numpy.logical_not(ignored))
        return pointers

    def _summarize(
        self, summary_type: str, iou_thr: float | None = None, area_rng: str = "all", freq_group_idx: int | None = None
    ) -> Any:
        p = self.params
        areas = [position for position, name in enumerate(p.area_rng_lbl) if name == area_rng]
        values = self.eval["precision" if summary_type == "ap" else "recall"][..., areas]
        if iou_thr is not None:
            values = values[numpy.where(iou_thr == p.iou_thrs)[0]]
        if summary_type == "ap" and freq_group_idx is not None:
            # Without categories there is one column for all of them.
            group = [position for position in self.freq_groups[freq_group_idx] if position < values.shape[2]]
            values = values[:, :, group]
        values = values[values > -1]
        return numpy.mean(values) if len(values) else -1

    def summarize(self) -> None:
        """Computes the numbers of ``results``."""
        if not self.eval:
            raise RuntimeError("Please run accumulate() first.")
        most = self.params.max_dets
        areas = ("small", "medium", "large")
        rows: list[tuple[str, str, dict[str, Any]]] = [
            ("AP", "ap", {}),
            ("AP50", "ap", {"iou_thr": 0.5}),
            ("AP75", "ap", {"iou_thr": 0.75}),
            *((f"AP{area[0]}", "ap", {"area_rng": area}) for area in areas),
            *((f"AP{name}", "ap", {"freq_group_idx": position}) for position, name in enumerate("rcf")),
            (f"AR@{most}", "ar", {}),
            *((f"AR{area[0]}@{most}", "ar", {"area_rng": area}) for area in areas),
        ]
        for name, kind, chosen in rows:
            self.results[name] = self._summarize(kind, **chosen)

    def run(self) -> None:
        """Evaluates, accumulates and summarizes."""
        self.evaluate()
        self.accumulate()
        self.summarize()

    def print_results(self) -> None:
        """Prints ``results`` as a table."""
        p = self.params
        for key, value in self.results.items():
            is_precision = "AP" in key
            title, short = ("Average Precision", "(AP)") if is_precision else ("Average Recall", "(AR)")
            rest = key[2:3]
            iou = f"{int(key[2:]) / 100:0.2f}" if rest.isdigit() else f"{p.iou_thrs[0]:0.2f}:{p.iou_thrs[-1]:0.2f}"
            area = rest if rest in ("s", "m", "l") else "all"
            group = rest if rest in ("r", "c", "f") else "all"
            print(
                f" {title:<18} {short} @[ IoU={iou:<9} | area={area:>6s} | maxDets={p.max_dets:>3d}"
                f" catIds={group:>3s}] = {value:0.3f}"
            )

    def get_results(self) -> OrderedDict[str, Any]:
        """Returns ``results``."""
        if not self.results:
            self.logger.warning("results is empty. Call run().")
        return self.results


class _Eval(dict):  # type: ignore[type-arg]
    """The content of ``LVISEval.eval``, whose ``dt_pointers`` are computed when they are first read."""

    def __init__(self, of: LVISEval) -> None:
        self._of = of
        super().__init__(dt_pointers=None)

    def __getitem__(self, key: str) -> Any:
        if key == "dt_pointers" and super().__getitem__(key) is None:
            self[key] = self._of._dt_pointers()
        return super().__getitem__(key)


class Params:
    """The definition of an evaluation.

    Attributes:
        img_ids: The ids of the images to evaluate.
        cat_ids: The ids of the categories.
        iou_thrs: The thresholds of overlap: 0.5, 0.55, ... 0.95.
        rec_thrs: The recalls at which precision is read: 0, 0.01, ... 1.
        max_dets: The number of detections of an image, which ``LVISResults`` has cut; it is only printed here.
        area_rng: Pairs of areas, both included.
        area_rng_lbl: Their names.
        use_cats: Whether categories are told apart. Without them everything is -1, as in lvis.
        img_count_lbl: The frequencies: rare, common and frequent.
        iou_type: ``"segm"`` or ``"bbox"``.
    """

    def __init__(self, iou_type: str) -> None:
        as_coco = cocoeval.Params(iouType=iou_type)
        self.img_ids: list[Any] = []
        self.cat_ids: list[Any] = []
        self.iou_thrs, self.rec_thrs = as_coco.iouThrs, as_coco.recThrs
        self.max_dets = 300
        self.area_rng, self.area_rng_lbl = as_coco.areaRng, as_coco.areaRngLbl
        self.use_cats = 1
        self.img_count_lbl = ["r", "c", "f"]
        self.iou_type = iou_type


def _categories(p: Any) -> Any:
    return p.cat_ids if p.use_cats else [-1]


def _same(p: Any, other: Any) -> bool:
    """Whether two definitions evaluate the same."""
    names = ("img_ids", "cat_ids", "iou_thrs", "rec_thrs", "area_rng", "use_cats")
    return all(numpy.array_equal(getattr(p, name), getattr(other, name)) for name in names)
