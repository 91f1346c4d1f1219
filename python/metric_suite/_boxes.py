"""Boxes of many images in memory, in the forms that other packages use."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import _native
from ._arrays import as_array, as_ids, as_numbers, as_scores, flat
from ._errors import MetricError

_SIDES = {"predictions": "prediction", "references": "reference"}


def is_data_set(value: Any) -> bool:
    """Whether a value is a whole data set rather than one value per example."""
    return isinstance(value, (Mapping, Boxes, str, os.PathLike)) or hasattr(value, "dataset")


def _other_form(value: Any) -> str | None:
    """Returns what a value is, if it is not a list of the boxes of each image."""
    if not _is_list(value):
        return type(value).__name__
    first = value[0] if len(value) else None
    # Such as the results of COCO, each of which names its image.
    if isinstance(first, Mapping) and not any(key in first for key in _KEYS.values()):
        return f"a list of dicts with the keys {', '.join(map(str, first))}"
    return None


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def is_per_image(value: Any, incomplete: bool = False) -> bool:
    """Whether a value is a list of the boxes of each image.

    Args:
        value: The value.
        incomplete: Whether one of the keys is enough. Some metrics read dicts of boxes by class, whose classes may have
            any name.
    """
    if not _is_list(value) or not value:
        return False
    first = value[0]
    if not isinstance(first, Mapping):
        return hasattr(first, "xyxy")
    known = [key for key in _KEYS.values() if key in first]
    return bool(known) if incomplete else "boxes" in known and len(known) > 1


class Boxes:
    """Boxes of many images, as columns of equal length.

    Args:
        image: The id of each object's image.
        category: The id of each object's class.
        box: N by 4: x and y of the upper left corner, width and height, in pixels.
        score: The confidence of each detection; ``None`` for ground truth.
        area: The area of each object, which decides its area range; by default that of the box, also where a value
            is ``None`` or NaN.
        crowd: Which objects are crowds; by default none.
        ignore: Which objects are left out of the score; by default none.
        images: The ids of all images, for ground truth; by default those in ``image``. An image without objects
            is known only if it is listed here.
        categories: The names of all classes by id, for ground truth; by default the ids in ``category``.
        id: The id of each object.

    Columns may be lists, or arrays of numpy, torch, pandas, polars or pyarrow.

    Raises:
        MetricError: When it is scored, if the columns differ in length or a score is not a number.

    >>> import metric_suite
    >>> truth = metric_suite.Boxes(image=[1, 1], category=[7, 7], box=[[0, 0, 9, 9], [50, 50, 9, 9]])
    >>> found = metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 9, 9]], score=[0.9])
    >>> metric_suite.coco(predictions=found, references=truth)["AR_100"]
    0.5
    """

    __slots__ = ("image", "category", "box", "score", "area", "crowd", "ignore", "images", "categories", "id", "_outlines", "_has_boxes", "_sizes")

    def __init__(
        self,
        *,
        image: Any,
        category: Any,
        box: Any,
        score: Any = None,
        area: Any = None,
        crowd: Any = None,
        ignore: Any = None,
        images: Any = None,
        categories: Mapping[Any, str] | None = None,
        id: Any = None,
    ) -> None:
        self.image, self.category, self.box, self.score = image, category, box, score
        self.area, self.crowd, self.ignore = area, crowd, ignore
        self.images, self.categories, self.id = images, categories, id
        # The masks or corners of objects, as JSON.
        self._outlines: list[str] | None = None
        # Whether the boxes count next to them.
        self._has_boxes = True
        # The height and width of the masks of each image that has some.
        self._sizes: dict[int, tuple[int, int]] = {}

    @classmethod
    def of(cls, value: Any, name: str = "references") -> Boxes | None:
        """Returns the boxes of a value in a form that is known; otherwise ``None``.

        Known forms are ``Boxes``, a list of torchmetrics' dicts with ``boxes`` (x and y of two corners), ``labels`` and
        ``scores``, and a list of supervision's ``Detections``. Images are numbered from 0. Where masks are compared,
        they have ``masks``, or ``mask``, instead of boxes.

        Args:
            value: The value.
            name: The side that it is of: ``"predictions"``, which need scores, or ``"references"``.
        """
        if isinstance(value, Boxes):
            return value
        return _per_image(value, name) if is_per_image(value) else None

    @classmethod
    def pair(
        cls, predictions: Any, references: Any, *, incomplete: bool = False, wanted: Wanted | None = None
    ) -> tuple[Any, Any]:
        """Returns predictions and references as ``Boxes``, if one side has a form that is known; otherwise as they are.

        Known forms are those of ``of``. With ``incomplete``, dicts that lack a key are of a known form.

        Raises:
            MetricError: One side has another form, or the sides have different numbers of images or masks of other sizes.
        """
        wanted = wanted or Wanted()
        sides = {"predictions": predictions, "references": references}
        if not any(isinstance(value, Boxes) or is_per_image(value, incomplete) for value in sides.values()):
            return predictions, references
        for name, value in sides.items():
            if wanted.shape != "box" and isinstance(value, Boxes):
                key, iou_type = _KEYS[wanted.shape], _IOU_TYPES[wanted.shape]
                problem = f'Boxes have no {key}, which iou_type="{iou_type}" compares: expected a list with one dict per image, with {key}'
                raise MetricError(f"{name}: {problem}{', or a data set of COCO' * (wanted.shape == 'mask')}", side=_SIDES[name])
            other_form = None if isinstance(value, Boxes) else _other_form(value)
            if other_form is not None:
                other = "references" if name == "predictions" else "predictions"
                problem = f"found {other_form}: expected Boxes or a list with one dict per image, as the {other} are"
                raise MetricError(f"{name}: {problem}", side=_SIDES[name])
        if _is_list(predictions) and _is_list(references) and len(predictions) != len(references):
            counts = [f"{len(side)} {name if len(side) != 1 else name[:-1]}" for name, side in sides.items()]
            raise MetricError(f"{' and '.join(counts)}: expected one of each per image")
        found = [value if isinstance(value, Boxes) else _per_image(value, name, wanted) for name, value in sides.items()]
        for number, size in found[0]._sizes.items():
            expected = found[1]._sizes.get(number, size)
            if size != expected:
                problem = f"masks of {size[0]} by {size[1]} pixels: expected {expected[0]} by {expected[1]}, as in references"
                raise MetricError(f"predictions[{number}]: {problem}", index=number, side="prediction")
        return found[0], found[1]

    def _columns(self, name: str = "references") -> dict[str, Any]:
        box = _four(self.box, f"{name}: box")
        columns: dict[str, Any] = {
            "image": as_ids(self.image, f"{name}: image"),
            "class": as_ids(self.category, f"{name}: category"),
            "bbox": box,
            "score": None if self.score is None else as_scores(self.score, f"{name}: score"),
            "area": _optional(self.area, f"{name}: area", box[:, 2] * box[:, 3]),
            "crowd": _optional(self.crowd, f"{name}: crowd", 0.0),
            "ignore": _optional(self.ignore, f"{name}: ignore", 0.0),
            "id": None if self.id is None else as_ids(self.id, f"{name}: id"),
        }
        if self.score is None:
            categories = self.categories
            if categories is None:
                categories = {key: str(key) for key in _unique(columns["class"])}
            elif not isinstance(categories, Mapping):
                problem = f"found {type(categories).__name__}: expected a mapping of ids to names"
                raise MetricError(f"{name}: categories: {problem}", side=_SIDES[name])
            images = self.images
            columns["images"] = _unique(columns["image"]) if images is None else as_ids(images, f"{name}: images")
            columns["classes"] = [(_scalar(key), str(label)) for key, label in categories.items()]
            # In a file, a missing value is worth a warning. Here it has a default.
            columns["crowd"] = [0] * len(box) if columns["crowd"] is None else columns["crowd"]
            columns["area"] = box[:, 2] * box[:, 3] if columns["area"] is None else columns["area"]
        if self._outlines is not None:
            columns["segmentation"] = self._outlines
        if not self._has_boxes:
            columns["bbox"] = None
        return columns


# The columns of `Boxes`, by the names that torchmetrics' dicts and supervision's detections give them. The optional ones
# may be missing in each image.
_KEYS = {"box": "boxes", "mask": "masks", "corners": "xyxyxyxy", "category": "labels", "score": "scores"}
_ATTRIBUTES = {"box": "xyxy", "mask": "mask", "corners": "xyxyxyxy", "category": "class_id", "score": "confidence"}
_OPTIONAL = {"area": "area", "crowd": "iscrowd", "ignore": "ignore"}
_IOU_TYPES = {"mask": "segm", "corners": "obb"}
_SHAPES = {"mask": "N by height by width", "corners": "N by 4 by 2 (x and y of four corners)"}
#: What the four numbers of a box are, by the names that torchmetrics has for them.
BOX_FORMATS = {
    "xyxy": "x and y of two corners",
    "xywh": "x and y of the upper left corner, width and height",
    "cxcywh": "x and y of the center, width and height",
}


class Wanted(NamedTuple):
    """What of the objects of images is compared."""

    #: ``"box"``, ``"mask"`` or ``"corners"``.
    shape: str = "box"
    #: Whether boxes are compared next to masks.
    boxes_too: bool = False
    #: What the boxes of dicts are.
    box_format: str = "xyxy"


def _per_image(images: Sequence[Any], name: str, wanted: Wanted = Wanted()) -> Boxes:
    """The boxes of torchmetrics' dicts or supervision's detections, or their masks or corners."""
    import numpy

    shape = wanted.shape
    boxes_too = shape == "mask" and wanted.boxes_too and all(_has_box(image) for image in images)
    found = [_image(image, number, name, wanted, boxes_too) for number, image in enumerate(images)]
    lengths = [len(image[shape]) for image in found]
    image = numpy.repeat(numpy.arange(len(images)), lengths)
    starts = numpy.cumsum([0, *lengths])

    def locate(column: str) -> Any:
        def of_index(index: int) -> tuple[str, int]:
            number = int(image[index])
            names = _KEYS if isinstance(images[number], Mapping) else _ATTRIBUTES
            return f"{name}[{number}]: {names[column]}[{index - int(starts[number])}]", number

        return of_index

    def joined(column: str) -> Any:
        # The type of an empty list is not that of labels.
        parts = [one[column] for one in found if len(one[column])]
        return numpy.concatenate(parts) if parts else numpy.empty(0, "int64")

    box = numpy.zeros((len(image), 4))
    if shape == "box" or boxes_too:
        sized = wanted.box_format == "xywh"
        corners = [(one["box"], sized and isinstance(whole, Mapping)) for one, whole in zip(found, images)]
        box = numpy.concatenate([numpy.zeros((0, 4)), *_boxes_of(corners)])
    area = _filled("area", found, lengths)
    # As in torchmetrics, an area of 0 is not known.
    area = None if area is None else numpy.where(area > 0, area, numpy.nan)
    boxes = Boxes(
        image=image,
        category=as_ids(joined("category"), f"{name}: category", locate("category")),
        box=box,
        score=as_scores(joined("score"), f"{name}: score", locate("score")) if name == "predictions" else None,
        area=area,
        crowd=_filled("crowd", found, lengths),
        ignore=_filled("ignore", found, lengths),
        images=range(len(images)),
    )
    if shape != "box":
        rows = [one[shape] for one in found]
        areas = [of_image.sum(axis=(1, 2)) if shape == "mask" else _areas(of_image) for of_image in rows]
        own = numpy.concatenate([numpy.zeros(0), *areas])
        boxes.area = own if area is None else numpy.where(numpy.isnan(area), own, area)
        boxes._outlines = [text for of_image in rows for text in (_encoded if shape == "mask" else _written)(of_image)]
        boxes._has_boxes = boxes_too
        if shape == "mask":
            boxes._sizes = {number: of_image.shape[1:] for number, of_image in enumerate(rows) if len(of_image)}
    return boxes


def _has_box(image: Any) -> bool:
    return not isinstance(image, Mapping) or image.get(_KEYS["box"]) is not None


def _written(corners: Any) -> list[str]:
    """Returns the corners of each object as JSON."""
    return [_native.dumps(rows, "corners") for rows in corners.reshape(len(corners), 8).astype("float64")]


def _areas(corners: Any) -> Any:
    """Returns the areas of quadrilaterals."""
    import numpy

    x, y = corners[:, :, 0], corners[:, :, 1]
    return abs((x * numpy.roll(y, -1, 1) - y * numpy.roll(x, -1, 1)).sum(axis=1)) / 2


def _encoded(masks: Any) -> list[str]:
    """Returns masks as COCO's run lengths in JSON."""
    import json

    import numpy

    count, height, width = masks.shape
    # Run lengths go down the columns.
    pixels = numpy.ascontiguousarray(masks.transpose(0, 2, 1)).reshape(-1).view("uint8")
    encoded = _native.mask_encode(pixels, height, width, count)
    return [json.dumps({"size": [height, width], "counts": counts.decode()}) for counts in encoded]


def _image(image: Any, number: int, name: str, wanted: Wanted, boxes_too: bool) -> dict[str, Any]:
    """Returns the columns of one image; ``None`` for an optional one that it lacks."""
    shape = wanted.shape
    place = f"{name}[{number}]"

    def refused(problem: str) -> MetricError:
        return MetricError(f"{place}: {problem}", index=number, side=_SIDES[name])

    is_mapping = isinstance(image, Mapping)
    if not is_mapping and not hasattr(image, "xyxy"):
        raise refused(f"found {type(image).__name__}: expected a dict with the keys {_KEYS[shape]} and labels")
    names = _KEYS if is_mapping else _ATTRIBUTES
    columns = [shape, *(["box"] if boxes_too else []), "category", *(["score"] if name == "predictions" else [])]
    needed = [names[column] for column in columns]
    # In supervision, the fields that a data set has in addition.
    more = image if is_mapping else getattr(image, "data", None) or {}
    given = {key: _value(image, more, key) for key in needed}
    if not is_mapping and len(image.xyxy) == 0:
        # Where nothing was found, they are None.
        given = {key: () if values is None else values for key, values in given.items()}
    missing = [key for key in needed if given[key] is None]
    if missing:
        others = [other for other in _IOU_TYPES if other != shape and _value(image, more, names[other]) is not None]
        hint = f'; iou_type="{_IOU_TYPES[others[0]]}" compares {names[others[0]]}' if others and missing[0] == names[shape] else ""
        raise refused(f"no {missing[0]}: expected {', '.join(needed[:-1])} and {needed[-1]}{hint}")
    found = {column: as_array(given[names[column]], f"{place}: {names[column]}") for column in columns}
    for column, key in _OPTIONAL.items():
        values = more.get(key)
        found[column] = None if values is None else as_numbers(values, f"{place}: {key}")
    box_format = wanted.box_format if is_mapping else "xyxy"
    for column in columns[: 1 + boxes_too]:
        rows = found[column]
        if column != "mask" and rows.dtype.kind not in "iuf":
            rows = as_numbers(rows, f"{place}: {names[column]}")
        found[column] = {"mask": _masks, "corners": _quadrilaterals, "box": _corners}[column](rows)
        if found[column] is None:
            expected = _SHAPES.get(column, f"N by 4 ({BOX_FORMATS[box_format]})")
            raise refused(f"{names[column]}: found an array of shape {rows.shape}: expected {expected}")
        if column == "box" and box_format == "cxcywh":
            found[column] = _around(found[column])
    rows = found[shape]
    for column, values in found.items():
        if values is not None and values.shape[:1] != rows.shape[:1]:
            count = f"{values.shape[0]}" if values.ndim else "one"
            key = {**names, **_OPTIONAL}[column]
            raise refused(f"{len(rows)} {names[shape]} and {count} {key}: expected as many of each")
        if values is not None and column not in ("box", shape) and values.size and values.ndim != 1:
            key = {**names, **_OPTIONAL}[column]
            raise refused(f"{key}: found an array of shape {values.shape}: expected N values, one per object")
    return found


def _value(image: Any, more: Mapping[str, Any], key: str) -> Any:
    return image.get(key) if isinstance(image, Mapping) else getattr(image, key, more.get(key))


def _corners(rows: Any) -> Any:
    """Returns an array as rows of two corners; ``None`` if it has another shape."""
    if rows.size == 0:
        return rows.reshape(0, 4)
    if rows.shape == (4,):
        return rows.reshape(1, 4)
    return rows if rows.ndim == 2 and rows.shape[1] == 4 else None


def _masks(rows: Any) -> Any:
    """Returns an array as a mask per object; ``None`` if it has another shape."""
    if rows.ndim != 3:
        return rows.reshape(0, 1, 1) if rows.size == 0 else None
    return rows.astype(bool, copy=False)


def _quadrilaterals(rows: Any) -> Any:
    """Returns an array as four corners per object; ``None`` if it has another shape."""
    if rows.size == 0:
        return rows.reshape(0, 4, 2)
    return rows.reshape(-1, 4, 2) if rows.shape[1:] in ((4, 2), (8,)) else None


def _around(rows: Any) -> Any:
    """Returns boxes of a center and a size as two corners, computed in their own precision, as in torchmetrics."""
    import numpy

    rows = rows.astype("float32") if rows.dtype.kind in "iu" else rows
    half = rows[:, 2:] * rows.dtype.type(0.5)
    return numpy.concatenate([rows[:, :2] - half, rows[:, :2] + half], axis=1)


def _boxes_of(images: Sequence[tuple[Any, bool]]) -> list[Any]:
    """Returns boxes as x, y, width and height: all at once, if they have one type.

    Args:
        images: The boxes of each image, and whether they have sizes already, rather than two corners.
    """
    import numpy

    kinds = {(rows.dtype, sized) for rows, sized in images if len(rows)}
    if len(kinds) == 1:
        images = [(numpy.concatenate([rows for rows, _ in images if len(rows)]), kinds.pop()[1])]
    found = []
    for rows, sized in images:
        if sized:
            found.append(rows.astype("float64"))
            continue
        # Subtracted in their own precision, as in torchmetrics; what has no sign would wrap around.
        rows = rows.astype("int64") if rows.dtype.kind == "u" else rows
        sizes = (rows[:, 2:] - rows[:, :2]).astype("float64")
        found.append(numpy.concatenate([rows[:, :2].astype("float64"), sizes], axis=1))
    return found


def _filled(column: str, images: Sequence[Mapping[str, Any]], lengths: Sequence[int]) -> Any:
    """Returns an optional column of all images, with NaN where an image lacks it; ``None`` if all do."""
    import numpy

    if all(image[column] is None for image in images):
        return None
    parts = zip(images, lengths)
    return numpy.concatenate([numpy.full(length, numpy.nan) if one[column] is None else one[column] for one, length in parts])


def _optional(values: Any, place: str, default: Any) -> Any:
    """Returns a column of numbers, with the default of the objects that have none."""
    import numpy

    if values is None:
        return None
    found = flat(as_numbers(values, place), place)
    missing = numpy.isnan(found)
    if not missing.any() or numpy.shape(default) not in ((), found.shape):
        return found
    return numpy.where(missing, default, found)


def _four(rows: Any, place: str) -> Any:
    import numpy

    rows = as_numbers(rows, place)
    if rows.size == 0:
        return rows.reshape(0, 4)
    if rows.ndim != 2 or rows.shape[1] != 4:
        raise MetricError(f"{place}: found an array of shape {rows.shape}: expected N by 4 (x, y, width, height)")
    return numpy.ascontiguousarray(rows)


def _scalar(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _unique(values: Any) -> list[Any]:
    return list(dict.fromkeys(_scalar(value) for value in values))
