"""Masks in run lengths: ``{"size": [height, width], "counts": bytes}``, by columns, compressed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ... import _native

__all__ = ["area", "decode", "encode", "frPyObjects", "iou", "merge", "toBbox"]


def _read(masks: Any) -> list[tuple[int, int, bytes]]:
    """Returns masks as the engine takes them."""
    return [(*_size(mask), _bytes(mask["counts"])) for mask in masks]


def _size(mask: Any) -> tuple[int, int]:
    height, width = mask["size"]
    return int(height), int(width)


def _bytes(counts: Any) -> bytes:
    if isinstance(counts, (str, bytes)):
        return counts.encode() if isinstance(counts, str) else counts
    # The numbers of a list of run lengths would be read as the bytes of compressed ones.
    raise TypeError(f"run lengths in {type(counts).__name__}: expected str or bytes (frPyObjects compresses lists)")


def _mask(height: int, width: int, counts: bytes) -> dict[str, Any]:
    return {"size": [height, width], "counts": counts}


def encode(bimask: Any) -> Any:
    """Returns the mask of an image, or a list of those of a stack of images.

    Args:
        bimask: uint8, int8 or bool, of shape (height, width) or (height, width, images). What is not 0 is in the mask.
            Arrays in Fortran order are not copied.

    Raises:
        ValueError: If the array has another type.

    >>> encode(numpy.array([[1, 0, 0], [1, 0, 0]], dtype="uint8"))
    {'size': [2, 3], 'counts': b'024'}
    """
    if bimask.dtype not in (numpy.uint8, numpy.int8, numpy.bool_):
        raise ValueError(f"an array of {bimask.dtype}: expected uint8")
    bimask = numpy.asfortranarray(bimask)
    height, width = bimask.shape[:2]
    images = bimask.shape[2] if bimask.ndim == 3 else 1
    pixels = bimask.reshape(-1, order="F").view("uint8")
    counts = _native.mask_encode(pixels, height, width, images)
    masks = [_mask(height, width, one) for one in counts]
    return masks if bimask.ndim == 3 else masks[0]


def decode(rleObjs: Any) -> Any:
    """Returns the image of a mask, or the stack of those of a list: uint8 in Fortran order."""
    if not isinstance(rleObjs, list):
        return decode([rleObjs])[:, :, 0]
    height, width = _size(rleObjs[0])
    return _native.mask_decode(_read(rleObjs)).reshape((height, width, len(rleObjs)), order="F")


def area(rleObjs: Any) -> Any:
    """Returns the number of pixels of a mask, or of each of a list."""
    if not isinstance(rleObjs, list):
        return area([rleObjs])[0]
    return numpy.array(_native.mask_area(_read(rleObjs)), dtype="uint32")


def toBbox(rleObjs: Any) -> Any:
    """Returns left, top, width and height of a mask, or a row of them per mask of a list."""
    if not isinstance(rleObjs, list):
        return toBbox([rleObjs])[0]
    return numpy.array(_native.mask_boxes(_read(rleObjs)), dtype="float64").reshape(-1, 4)


def merge(rleObjs: Any, intersect: bool = False) -> Any:
    """Returns the union of masks, or their intersection.

    Masks of different sizes give one of size 0 by 0, as in pycocotools.
    """
    sizes = {_size(mask) for mask in rleObjs}
    if len(sizes) != 1:
        return _mask(0, 0, b"")
    height, width = sizes.pop()
    if len(rleObjs) == 1:
        # As it is, even if it has runs of length 0.
        return _mask(height, width, _bytes(rleObjs[0]["counts"]))
    return _mask(height, width, _native.mask_merge(_read(rleObjs), bool(intersect)))


def iou(dt: Any, gt: Any, pyiscrowd: Any) -> Any:
    """Returns intersection over union of each detection with each true object.

    Args:
        dt: Masks, or boxes of left, top, width and height: lists or an array of shape (n, 4).
        gt: The same kind.
        pyiscrowd: For each true object whether it is a crowd, whose own area does not count.

    Returns:
        float64 of shape (detections, true objects); an empty list if either has none.

    Raises:
        AssertionError: If there are more or fewer flags than true objects.
    """
    crowd = [bool(flag) for flag in pyiscrowd]
    assert len(crowd) == len(gt), f"{len(crowd)} flags for {len(gt)} true objects: expected as many of each"
    if len(dt) == 0 or len(gt) == 0:
        return []
    detections, truths = _objects(dt), _objects(gt)
    if type(detections) is not type(truths):
        raise TypeError("boxes and masks do not compare: expected the same kind on both sides")
    between = _native.mask_iou if isinstance(detections, list) else _native.box_iou
    # In Fortran order, as pycocotools returns it.
    return numpy.asfortranarray(between(detections, truths, crowd).reshape(len(dt), len(gt)))


def _objects(objects: Sequence[Any]) -> Any:
    """Returns boxes as an array and masks as a list."""
    if isinstance(objects, numpy.ndarray):
        if objects.ndim != 2 or objects.shape[1] != 4:
            raise ValueError(f"an array of shape {objects.shape}: expected boxes, of shape (n, 4)")
        return numpy.ascontiguousarray(objects, dtype="float64")
    if not isinstance(objects, list):
        raise TypeError(f"found {type(objects).__name__}: expected a list of boxes or masks, or an array of boxes")
    if all(isinstance(one, dict) for one in objects):
        return _read(objects)
    if all(isinstance(one, (list, numpy.ndarray)) and len(one) == 4 for one in objects):
        return numpy.array(objects, dtype="float64")
    raise TypeError("expected a list of boxes (left, top, width, height) or of masks")


def frPyObjects(pyobj: Any, h: int, w: int) -> Any:
    """Returns masks of boxes, polygons or uncompressed run lengths.

    Args:
        pyobj: An array of boxes of 4 numbers, or one object or a list of them: a polygon of at least 6 numbers (x and y
            in turn), or a dictionary with ``size`` and a list ``counts``. Compressed ``counts`` stay as they are.
        h: The height of the image.
        w: Its width.

    Raises:
        TypeError: A list has 4 numbers, which may be a box or a polygon of two points: boxes are arrays, as in pycocotools.

    >>> frPyObjects(numpy.array([[0, 0, 1, 2]]), 2, 3)
    [{'size': [2, 3], 'counts': b'024'}]
    """
    h, w = int(h), int(w)
    if isinstance(pyobj, numpy.ndarray):
        return _of_boxes(pyobj, h, w)
    if isinstance(pyobj, dict):
        return _of_counts([pyobj])[0]
    if not isinstance(pyobj, list):
        raise TypeError("expected boxes, polygons or run lengths")
    if isinstance(pyobj[0], dict):
        return _of_counts(pyobj)
    if not hasattr(pyobj[0], "__len__"):
        return frPyObjects([pyobj], h, w)[0]
    if len(pyobj[0]) == 4:
        raise TypeError("found a list of 4 numbers: expected a polygon of at least 6 (boxes are an array of numpy)")
    if len(pyobj[0]) > 4:
        polygons = [[float(number) for number in polygon] for polygon in pyobj]
        return [_mask(h, w, counts) for counts in _native.mask_from_polygons(polygons, h, w)]
    raise TypeError("expected an array of boxes, or polygons of at least 6 numbers")


def _of_boxes(boxes: Any, height: int, width: int) -> Any:
    polygons = []
    for index, box in enumerate(boxes):
        if len(box) != 4:
            raise ValueError(f"entry {index} has {len(box)} numbers: every entry must be a box of 4, as the first is")
        x, y, right, bottom = box[0], box[1], box[0] + box[2], box[1] + box[3]
        polygons.append([float(number) for number in (x, y, x, bottom, right, bottom, right, y)])
    return [_mask(height, width, counts) for counts in _native.mask_from_polygons(polygons, height, width)]


def _of_counts(masks: Any) -> Any:
    found = []
    for mask in masks:
        counts = mask["counts"]
        is_compressed = isinstance(counts, (str, bytes))
        compressed = _bytes(counts) if is_compressed else _native.compress_counts([int(count) for count in counts])
        found.append(_mask(*_size(mask), compressed))
    return found
