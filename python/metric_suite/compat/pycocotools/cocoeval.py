"""COCO's evaluation of boxes, masks and keypoints."""

from __future__ import annotations

import copy
import datetime
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy

from ... import _native
from . import mask as maskUtils

__all__ = ["COCOeval", "Params"]

# Methods that decide how an image is evaluated, and that a subclass may override.
_STEPS = ("computeIoU", "computeOks", "evaluateImg")


class COCOeval:
    """Evaluates detections against a data set.

    Args:
        cocoGt: The data set, a ``COCO``.
        cocoDt: The detections, as ``cocoGt.loadRes`` returns them.
        iouType: ``"segm"``, ``"bbox"`` or ``"keypoints"``.

    Attributes:
        params: The definition, a ``Params``; change it before ``evaluate``.
        eval: After ``accumulate``: ``precision`` and ``scores`` of shape (thresholds, recalls, classes, areas,
            numbers of detections), ``recall`` of the same without recalls, ``counts``, ``params`` and ``date``.
            -1 where no ground-truth object counts.
        stats: After ``summarize``: the 12 numbers, or 10 for keypoints, that it prints.
        evalImgs: After ``evaluate``: for each class, area and image in turn what matched, or None.
        ious: After ``evaluate``: by image and class the overlaps of detections and true objects.

    All kinds are evaluated by the engine at once. ``evalImgs`` and ``ious`` are filled when they are first read.
    Where a subclass overrides ``computeIoU``, ``computeOks`` or ``evaluateImg``, or ``evalImgs`` was read or assigned,
    each step runs by itself.
    """

    def __init__(self, cocoGt: Any = None, cocoDt: Any = None, iouType: str = "segm") -> None:
        if not iouType:
            print("iouType not specified. use default iouType segm")
        self.cocoGt, self.cocoDt = cocoGt, cocoDt
        self._gts: Any = defaultdict(list)
        self._dts: Any = defaultdict(list)
        self._evalImgs: Any = defaultdict(list)
        self._ious: Any = {}
        # Precision, recall and scores, where the engine has evaluated everything at once.
        self._arrays: Any = None
        self.eval: dict[str, Any] = {}
        self.stats: Any = []
        self.params = Params(iouType=iouType)
        self._paramsEval: Any = {}
        if cocoGt is not None:
            self.params.imgIds = sorted(cocoGt.getImgIds())
            self.params.catIds = sorted(cocoGt.getCatIds())

    @property
    def evalImgs(self) -> Any:
        if self._evalImgs is None:
            # From now on they may change.
            self._arrays = None
            p = self._paramsEval
            self._evalImgs = [
                self._evaluated(image, category, area, p.maxDets[-1], p)
                for category in _categories(p)
                for area in p.areaRng
                for image in p.imgIds
            ]
        return self._evalImgs

    @evalImgs.setter
    def evalImgs(self, value: Any) -> None:
        self._evalImgs, self._arrays = value, None

    @property
    def ious(self) -> Any:
        if self._ious is None:
            p = self._paramsEval
            self._ious = {
                (image, category): self._overlaps(image, category, p)
                for image in p.imgIds
                for category in _categories(p)
            }
        return self._ious

    @ious.setter
    def ious(self, value: Any) -> None:
        self._ious = value

    def _prepare(self) -> None:
        """Sorts annotations and detections by image and category, into ``_gts`` and ``_dts``."""
        p = self.params
        chosen = {"imgIds": p.imgIds, **({"catIds": p.catIds} if p.useCats else {})}
        truths = self.cocoGt.loadAnns(self.cocoGt.getAnnIds(**chosen))
        detections = self.cocoDt.loadAnns(self.cocoDt.getAnnIds(**chosen))
        if p.iouType == "segm":
            for data, objects in ((self.cocoGt, truths), (self.cocoDt, detections)):
                for one in objects:
                    one["segmentation"] = data.annToRLE(one)
        for one in truths:
            # As in pycocotools, the flag `ignore` of a file has no effect.
            one["ignore"] = "iscrowd" in one and one["iscrowd"]
            if p.iouType == "keypoints":
                one["ignore"] = one["num_keypoints"] == 0 or one["ignore"]
        self._gts, self._dts = _by_image(truths), _by_image(detections)
        self.evalImgs, self.eval = defaultdict(list), {}

    def evaluate(self) -> None:
        """Evaluates each image and class."""
        start = time.time()
        print("Running per image evaluation...")
        p = self.params
        if p.useSegm is not None:
            p.iouType = "segm" if p.useSegm == 1 else "bbox"
            print(f"useSegm (deprecated) is not None. Running {p.iouType} evaluation")
        print(f"Evaluate annotation type *{p.iouType}*")
        p.imgIds = list(numpy.unique(p.imgIds))
        if p.useCats:
            p.catIds = list(numpy.unique(p.catIds))
        p.maxDets = sorted(p.maxDets)
        self._prepare()
        most = p.maxDets[-1]
        arrays = None
        if all(getattr(type(self), step) is getattr(COCOeval, step) for step in _STEPS):
            arrays = self._by_the_engine()
        self._paramsEval = copy.deepcopy(p)
        if arrays is None:
            between = self.computeOks if p.iouType == "keypoints" else self.computeIoU
            categories = _categories(p)
            self.ious = {(image, category): between(image, category) for image in p.imgIds for category in categories}
            self.evalImgs = [
                self.evaluateImg(image, category, area, most)
                for category in categories
                for area in p.areaRng
                for image in p.imgIds
            ]
        else:
            self._ious = self._evalImgs = None
            self._arrays = arrays
        print(f"DONE (t={time.time() - start:0.2f}s).")

    def _by_the_engine(self) -> Any:
        """Returns precision, recall and scores, or None for what the engine does not take."""
        p = self.params
        # Keypoints of all classes together have no similarities in pycocotools.
        if p.iouType not in _SHAPES or not _is_plain(p) or (p.iouType == "keypoints" and not p.useCats):
            return None
        images = {image: place for place, image in enumerate(p.imgIds)}
        categories = {category: place for place, category in enumerate(p.catIds)}
        try:
            truths = _columns(self._gts, images, categories, p.iouType, "iscrowd")
            detections = _columns(self._dts, images, categories, p.iouType, "score")
            # A match is noted by the id of the detection, and 0 is read as none.
            have_ids = all(one > 0 for one in detections["id"])
            sigmas = [float(sigma) for sigma in p.kpt_oks_sigmas] if p.iouType == "keypoints" else []
        except (KeyError, TypeError, ValueError):
            return None
        numbers = (detections["number"], truths["area"], detections["area"])
        if not have_ids or not all(numpy.isfinite(values).all() for values in numbers):
            return None
        if sigmas and (truths["area"] < 0).any():
            return None
        for columns in (truths, detections):
            columns["has_id"] = columns.pop("id") != 0
        classes = len(p.catIds) if p.useCats else 1
        definition = {
            "images": len(p.imgIds),
            "classes": classes,
            "iou_thresholds": [float(threshold) for threshold in p.iouThrs],
            "recall_thresholds": [float(threshold) for threshold in p.recThrs],
            "areas": [(float(least), float(greatest)) for least, greatest in p.areaRng],
            "max_detections": [int(most) for most in p.maxDets],
            "by_class": bool(p.useCats),
            "sigmas": sigmas,
            "federated": None,
        }
        try:
            arrays = _native.coco_arrays(definition, truths, detections)
        except ValueError:
            # Such as a box that is not finite, or an invalid mask: the steps say what is wrong.
            return None
        shape = [len(p.iouThrs), len(p.recThrs), classes, len(p.areaRng), len(p.maxDets)]
        without_recalls = [shape[0], *shape[2:]]
        return [array.reshape(to) for array, to in zip(arrays, (shape, without_recalls, shape))]

    def _objects(self, image: Any, category: Any, p: Any) -> Any:
        """Returns true objects and detections of an image and class."""
        if p.useCats:
            return self._gts[image, category], self._dts[image, category]
        return [[one for each in p.catIds for one in table[image, each]] for table in (self._gts, self._dts)]

    def computeIoU(self, imgId: Any, catId: Any) -> Any:
        """Returns the overlap of each detection, by falling score, with each true object."""
        return self._iou(imgId, catId, self.params)

    def _overlaps(self, image: Any, category: Any, p: Any) -> Any:
        between = self._oks if p.iouType == "keypoints" else self._iou
        return between(image, category, p)

    def _iou(self, image: Any, category: Any, p: Any) -> Any:
        truths, detections = self._objects(image, category, p)
        if len(truths) == 0 and len(detections) == 0:
            return []
        if p.iouType not in ("segm", "bbox"):
            raise Exception(f"unknown iouType {p.iouType!r}: expected 'segm' or 'bbox'")
        detections = _by_score(detections, p.maxDets[-1])
        key = "segmentation" if p.iouType == "segm" else "bbox"
        crowd = [int(one["iscrowd"]) for one in truths]
        return maskUtils.iou([one[key] for one in detections], [one[key] for one in truths], crowd)

    def computeOks(self, imgId: Any, catId: Any) -> Any:
        """Returns the object keypoint similarity of each detection, by falling score, with each true object."""
        return self._oks(imgId, catId, self.params)

    def _oks(self, image: Any, category: Any, p: Any) -> Any:
        truths = self._gts[image, category]
        detections = _by_score(self._dts[image, category], p.maxDets[-1])
        if len(truths) == 0 or len(detections) == 0:
            return []
        variances = (p.kpt_oks_sigmas * 2) ** 2
        similarities = numpy.zeros((len(detections), len(truths)))
        for column, truth in enumerate(truths):
            x, y, visible = (numpy.array(truth["keypoints"])[start::3] for start in range(3))
            labeled = numpy.count_nonzero(visible > 0) > 0
            left, top, width, height = truth["bbox"][:4]
            for row, detection in enumerate(detections):
                found = numpy.array(detection["keypoints"])
                dx, dy = found[0::3], found[1::3]
                if labeled:
                    dx, dy = dx - x, dy - y
                else:
                    # The distance to a box of twice the size in each direction.
                    dx = _outside(dx, left - width, left + width * 2)
                    dy = _outside(dy, top - height, top + height * 2)
                error = (dx**2 + dy**2) / variances / (truth["area"] + numpy.spacing(1)) / 2
                if labeled:
                    error = error[visible > 0]
                similarities[row, column] = numpy.sum(numpy.exp(-error)) / error.shape[0]
        return similarities

    def evaluateImg(self, imgId: Any, catId: Any, aRng: Sequence[float], maxDet: int) -> Any:
        """Matches the detections of an image and class with its true objects, in an area range.

        Returns:
            dict: ``dtMatches`` and ``gtMatches`` with a row per threshold, of the ids of matches or 0; ``dtIgnore``
            of the same shape; ``gtIgnore``, ``dtIds``, ``gtIds`` and ``dtScores``. None if there are no objects.
        """
        return self._evaluated(imgId, catId, aRng, maxDet, self.params)

    def _evaluated(self, image: Any, category: Any, area: Any, most: Any, p: Any) -> Any:
        truths, detections = self._objects(image, category, p)
        if len(truths) == 0 and len(detections) == 0:
            return None
        for one in truths:
            one["_ignore"] = int(bool(one["ignore"] or one["area"] < area[0] or one["area"] > area[1]))
        order = numpy.argsort([one["_ignore"] for one in truths], kind="mergesort")
        truths = [truths[place] for place in order]
        detections = _by_score(detections, most)
        ious = self.ious[image, category]
        thresholds = len(p.iouThrs)
        matched, taken = numpy.zeros((thresholds, len(detections))), numpy.zeros((thresholds, len(truths)))
        ignored = numpy.array([one["_ignore"] for one in truths])
        ignores = numpy.zeros((thresholds, len(detections)))
        if len(ious) > 0:
            self._match(ious[:, order], truths, detections, p, matched, taken, ignores)
        outside = numpy.array([one["area"] < area[0] or one["area"] > area[1] for one in detections], dtype=bool)
        return {
            "image_id": image,
            "category_id": category,
            "aRng": area,
            "maxDet": most,
            "dtIds": [one["id"] for one in detections],
            "gtIds": [one["id"] for one in truths],
            "dtMatches": matched,
            "gtMatches": taken,
            "dtScores": [one["score"] for one in detections],
            "gtIgnore": ignored,
            "dtIgnore": (ignores != 0) | ((matched == 0) & outside),
        }

    @staticmethod
    def _match(
        ious: Any, truths: Any, detections: Sequence[Any], p: Any, matched: Any, taken: Any, ignores: Any
    ) -> None:
        """Fills the ids of matches by threshold, and whether the true object of a match is ignored."""
        rows = numpy.ascontiguousarray(ious[: len(detections)], dtype="float64")
        ignored = [bool(one["_ignore"]) for one in truths]
        crowd = [bool(int(one["iscrowd"])) for one in truths]
        thresholds = [float(threshold) for threshold in p.iouThrs]
        of_detections, of_truths = _native.coco_match(rows, ignored, crowd, thresholds)
        if truths and detections:
            to = of_detections.reshape(matched.shape)
            found = to >= 0
            matched[found] = numpy.array([one["id"] for one in truths])[to[found]]
            ignores[found] = numpy.array(ignored)[to[found]]
            to = of_truths.reshape(taken.shape)
            found = to >= 0
            taken[found] = numpy.array([one["id"] for one in detections])[to[found]]

    def accumulate(self, p: Any = None) -> None:
        """Computes precision and recall of all images, into ``eval``.

        Args:
            p: A definition to read ``evalImgs`` by; by default ``params``.
        """
        print("Accumulating evaluation results...")
        start = time.time()
        if not self._has_entries():
            print("Please run evaluate() first")
        p = self.params if p is None else p
        p.catIds = p.catIds if p.useCats == 1 else [-1]
        if self._arrays is not None and _same(p, self._paramsEval):
            precision, recall, scores = (array.copy() for array in self._arrays)
        else:
            precision, recall, scores = self._accumulated(p)
        self.eval = {
            "params": p,
            "counts": list(precision.shape),
            "date": datetime.datetime.now().strftime("%Y-%m-%d %H:%M:%S"),
            "precision": precision,
            "recall": recall,
            "scores": scores,
        }
        print(f"DONE (t={time.time() - start:0.2f}s).")

    def _has_entries(self) -> bool:
        """Returns whether ``evalImgs`` has an entry, without filling it."""
        if self._arrays is None:
            return bool(self.evalImgs)
        p = self._paramsEval
        return all(len(values) > 0 for values in (_categories(p), p.areaRng, p.imgIds))

    def _accumulated(self, p: Any) -> Any:
        """Returns precision, recall and scores of ``evalImgs``."""
        classes = len(p.catIds) if p.useCats else 1
        shape = [len(p.iouThrs), len(p.recThrs), classes, len(p.areaRng), len(p.maxDets)]
        precision, scores = -numpy.ones(shape), -numpy.ones(shape)
        recall = -numpy.ones([shape[0], *shape[2:]])
        done, entries = self._paramsEval, self.evalImgs
        # The positions in the lists of `p` of what was evaluated; entries are found by them.
        known = set(_categories(done))
        class_places = [place for place, category in enumerate(p.catIds) if category in known]
        known = set(map(tuple, done.areaRng))
        area_places = [place for place, area in enumerate(map(tuple, p.areaRng)) if area in known]
        most_detections = [most for most in p.maxDets if most in set(done.maxDets)]
        known = set(done.imgIds)
        image_places = [place for place, image in enumerate(p.imgIds) if image in known]
        images, areas = len(done.imgIds), len(done.areaRng)
        for k, class_place in enumerate(class_places):
            for a, area_place in enumerate(area_places):
                first = (class_place * areas + area_place) * images
                found = [entries[first + place] for place in image_places]
                found = [entry for entry in found if entry is not None]
                for m, most in enumerate(most_detections):
                    curves = _curves(found, most, p) if found else None
                    if curves is not None:
                        precision[:, :, k, a, m], recall[:, k, a, m], scores[:, :, k, a, m] = curves
        return precision, recall, scores

    def summarize(self) -> None:
        """Prints the summary, and keeps its numbers in ``stats``."""
        if not self.eval:
            raise Exception("Please run accumulate() first")
        p = self.params
        if p.iouType == "keypoints":
            rows = [(kind, threshold, area, 20) for kind, threshold, area in _KEYPOINT_ROWS]
        else:
            # The first row is always at 100 detections.
            rows = [
                (kind, threshold, area, 100 if place is None else p.maxDets[place])
                for kind, threshold, area, place in _DETECTION_ROWS
            ]
        self.stats = numpy.array([self._summary(*row) for row in rows], dtype="float64")

    def _summary(self, kind: str, threshold: float | None, area: Any, most: Any) -> Any:
        p = self.params
        areas = [place for place, name in enumerate(p.areaRngLbl) if name == area]
        numbers = [place for place, number in enumerate(p.maxDets) if number == most]
        values = self.eval["precision" if kind == "Precision" else "recall"]
        if threshold is not None:
            values = values[numpy.where(threshold == p.iouThrs)[0]]
        values = values[..., areas, numbers]
        values = values[values > -1]
        mean = numpy.mean(values) if len(values) else -1
        title, short = f"Average {kind}", "(AP)" if kind == "Precision" else "(AR)"
        ious = f"{p.iouThrs[0]:0.2f}:{p.iouThrs[-1]:0.2f}" if threshold is None else f"{threshold:0.2f}"
        print(f" {title:<18} {short} @[ IoU={ious:<9} | area={area:>6s} | maxDets={most:>3d} ] = {mean:0.3f}")
        return mean

    def __str__(self) -> str:
        # pycocotools prints the summary and returns nothing, which is an error of Python.
        self.summarize()
        return ""


# Kind, threshold, area, and the position of the number of detections.
_DETECTION_ROWS: list[tuple[str, float | None, str, int | None]] = [
    ("Precision", None, "all", None),
    ("Precision", 0.5, "all", 2),
    ("Precision", 0.75, "all", 2),
    *(("Precision", None, area, 2) for area in ("small", "medium", "large")),
    *(("Recall", None, "all", place) for place in range(3)),
    *(("Recall", None, area, 2) for area in ("small", "medium", "large")),
]
_KEYPOINT_ROWS: list[tuple[str, float | None, str]] = [
    (kind, threshold, area)
    for kind in ("Precision", "Recall")
    for threshold, area in ((None, "all"), (0.5, "all"), (0.75, "all"), (None, "medium"), (None, "large"))
]


class Params:
    """The definition of an evaluation.

    Attributes:
        imgIds: The ids of the images to evaluate.
        catIds: The ids of the categories.
        iouThrs: The thresholds of overlap: 0.5, 0.55, ... 0.95.
        recThrs: The recalls at which precision is read: 0, 0.01, ... 1.
        maxDets: How many detections count in each image and class.
        areaRng: Pairs of areas, both included.
        areaRngLbl: Their names.
        useCats: Whether classes are told apart.
        iouType: ``"segm"``, ``"bbox"`` or ``"keypoints"``.
        kpt_oks_sigmas: For keypoints how far they may be off: COCO's 17.
    """

    def __init__(self, iouType: str = "segm") -> None:
        if iouType in ("segm", "bbox"):
            self.setDetParams()
        elif iouType == "keypoints":
            self.setKpParams()
        else:
            raise Exception(f"iouType {iouType!r} is not supported: expected 'segm', 'bbox' or 'keypoints'")
        self.iouType = iouType
        self.useSegm = None

    def setDetParams(self) -> None:
        """Sets COCO's definition for boxes and masks."""
        self._set([1, 10, 100], ["all", "small", "medium", "large"])

    def setKpParams(self) -> None:
        """Sets COCO's definition for keypoints."""
        self._set([20], ["all", "medium", "large"])
        face, arms, legs = (
            [0.26, 0.25, 0.25, 0.35, 0.35],
            [0.79, 0.79, 0.72, 0.72, 0.62, 0.62],
            [1.07, 1.07, 0.87, 0.87],
        )
        self.kpt_oks_sigmas = numpy.array([*face, *arms, *legs, 0.89, 0.89]) / 10.0

    def _set(self, most: Any, areas: Any) -> None:
        self.imgIds: list[Any] = []
        self.catIds: list[Any] = []
        self.iouThrs = numpy.linspace(0.5, 0.95, 10)
        self.recThrs = numpy.linspace(0.0, 1.0, 101)
        ranges: dict[str, list[float]] = {"all": [0, 1e5**2], "small": [0, 32**2], "medium": [32**2, 96**2], "large": [96**2, 1e5**2]}
        self.maxDets, self.areaRngLbl, self.areaRng = most, areas, [ranges[name] for name in areas]
        self.useCats = 1


def _categories(p: Any) -> Any:
    """Returns the classes that are told apart: -1 for all of them."""
    return p.catIds if p.useCats else [-1]


def _by_image(objects: Sequence[Any]) -> Any:
    table = defaultdict(list)
    for one in objects:
        table[one["image_id"], one["category_id"]].append(one)
    return table


def _by_score(detections: Sequence[Any], most: Any) -> Any:
    """Returns the detections of the highest scores; equal scores keep their order."""
    order = numpy.argsort([-one["score"] for one in detections], kind="mergesort")
    return [detections[place] for place in order[:most]]


def _outside(values: Any, low: Any, high: Any) -> Any:
    """Returns how far values are outside of a range."""
    nothing = numpy.zeros(len(values))
    return numpy.max((nothing, low - values), axis=0) + numpy.max((nothing, values - high), axis=0)


def _is_plain(p: Any) -> bool:
    """Whether the engine takes a definition: lists that rise, whole numbers of detections, and bounds in order."""
    recalls, numbers = list(p.recThrs), list(p.maxDets)
    rises = all(a < b for values in (recalls, numbers) for a, b in zip(values, values[1:]))
    return bool(
        rises
        and numbers
        and numbers[0] >= 1
        and all(hasattr(number, "__index__") for number in numbers)
        and len(p.iouThrs) > 0
        and all(0 < threshold <= 1 for threshold in p.iouThrs)
        and recalls
        and recalls[0] >= 0
        and recalls[-1] <= 1
        and 0 < len(p.areaRng) <= 31
        and all(len(area) == 2 and area[0] <= area[1] for area in p.areaRng)
    )


def _columns(table: Any, images: Any, categories: Any, kind: str, number: str) -> Any:
    """Returns the objects of a table as columns, in the order of images and categories."""
    rows = [
        (images[image], categories[category], one)
        for (image, category), objects in table.items()
        if image in images and category in categories
        for one in objects
    ]
    objects = [one for _, _, one in rows]
    columns = {
        "image": numpy.array([image for image, _, _ in rows], dtype="int64"),
        "class": numpy.array([category for _, category, _ in rows], dtype="int64"),
        "area": numpy.array([one["area"] for one in objects], dtype="float64"),
        "number": numpy.array([one[number] for one in objects], dtype="float64"),
        "id": numpy.array([one["id"] for one in objects]),
        "ignore": numpy.array([bool(one.get("ignore")) and kind == "keypoints" for one in objects], dtype=bool),
        "shape": _SHAPES[kind](objects, number == "iscrowd"),
    }
    return columns


def _boxes(objects: Sequence[Any], are_truths: bool) -> Any:
    return numpy.array([one["bbox"] for one in objects], dtype="float64").reshape(-1, 4)


def _keypoints(objects: Sequence[Any], are_truths: bool) -> Any:
    points = numpy.array([one["keypoints"] for one in objects], dtype="float64")
    points = points.reshape(len(objects), -1) if objects else points.reshape(0, 0)
    # Only boxes of ground truth are looked at.
    return points, _boxes(objects if are_truths else [], are_truths)


# How the engine takes the objects of a kind.
_SHAPES = {
    "bbox": _boxes,
    "segm": lambda objects, are_truths: maskUtils._read([one["segmentation"] for one in objects]),
    "keypoints": _keypoints,
}


def _same(p: Any, other: Any) -> bool:
    """Whether two definitions evaluate the same."""
    names = ("imgIds", "iouThrs", "recThrs", "maxDets", "areaRng")
    same = all(numpy.array_equal(getattr(p, name), getattr(other, name)) for name in names)
    return same and p.useCats == other.useCats and list(_categories(p)) == list(_categories(other))


def _curves(entries: Sequence[Any], most: Any, p: Any) -> Any:
    """Returns precision by threshold and recall, recall by threshold, and scores like precision.

    None if no ground-truth object counts.
    """
    positives = numpy.count_nonzero(numpy.concatenate([entry["gtIgnore"] for entry in entries]) == 0)
    if positives == 0:
        return None
    scores = numpy.concatenate([entry["dtScores"][:most] for entry in entries])
    order = numpy.argsort(-scores, kind="mergesort")
    scores = scores[order]
    matched, ignored = (
        numpy.concatenate([entry[name][:, :most] for entry in entries], axis=1)[:, order]
        for name in ("dtMatches", "dtIgnore")
    )
    counted, matched = numpy.logical_not(ignored), matched != 0
    right = numpy.cumsum(matched & counted, axis=1).astype(float)
    wrong = numpy.cumsum(~matched & counted, axis=1).astype(float)
    shape = (len(right), len(p.recThrs))
    precision, reached, recall = numpy.zeros(shape), numpy.zeros(shape), numpy.zeros(len(right))
    for row, (tp, fp) in enumerate(zip(right, wrong)):
        if len(tp) == 0:
            continue
        found = tp / positives
        recall[row] = found[-1]
        # The highest precision at or after each detection.
        envelope = numpy.maximum.accumulate((tp / (fp + tp + numpy.spacing(1)))[::-1])[::-1]
        places = numpy.searchsorted(found, p.recThrs, side="left")
        # Recalls are read in their order until one is not reached.
        within = places[: numpy.argmax(places == len(tp))] if (places == len(tp)).any() else places
        precision[row, : len(within)] = envelope[within]
        reached[row, : len(within)] = scores[within]
    return precision, recall, reached
