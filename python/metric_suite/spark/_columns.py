"""Arrow columns as values for the engine, on executors."""

# Types do not know the functions of pyarrow.compute, which are made when it is imported.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .. import _native
from .._errors import MetricError
from .._images import images_of

# The columns of objects, with the names that frames may have for each.
OBJECT_COLUMNS = {
    "image": ("image_id", "image"),
    "class": ("category_id", "category", "class"),
    "bbox": ("bbox", "box"),
    "segmentation": ("segmentation", "mask"),
    "keypoints": ("keypoints",),
    "num_keypoints": ("num_keypoints",),
    "score": ("score",),
    "area": ("area",),
    "crowd": ("iscrowd", "crowd"),
    "ignore": ("ignore",),
    "id": ("id",),
    "height": ("height",),
    "width": ("width",),
    "file_name": ("file_name",),
}
# Their names in COCO's files.
_FIELDS = {"image": "image_id", "class": "category_id", "crowd": "iscrowd"}
# The columns that arguments of `Boxes` are named after in errors.
_COLUMNS_OF_ARGUMENTS = {"image": "image_id", "category": "category_id", "box": "bbox"}
# Fields that belong to an image and not to an object.
_OF_IMAGES = ("height", "width", "file_name")


def values(column: Any, name: str, *, is_json: bool, is_ranked: bool) -> Any:
    """Returns a column as the engine reads it, without a copy if the engine has a column of its type."""
    import pyarrow.types as types

    kind = column.type
    if is_json:
        if not (types.is_string(kind) or types.is_large_string(kind)):
            raise MetricError(f"column {name}: found {kind}: expected a string of JSON")
        return _native.JsonTexts(column)
    if types.is_boolean(kind):
        # Booleans are the labels 0 and 1, as in scikit-learn.
        return column.cast("int64")
    if is_ranked and (rows := _matrix(column)) is not None:
        return rows
    return _converted(column) if types.is_nested(kind) else column


def pictures(column: Any, name: str, field: str) -> Any:
    """Returns pictures as the engine reads them: a column of paths or of bytes as it is, and dicts with such a field.

    A path may have the scheme ``file``, as paths have that Spark lists.
    """
    import pyarrow.compute as compute
    import pyarrow.types as types

    if isinstance(column, list):
        return images_of([_local(value, field) for value in column], name, field)
    kind = getattr(column, "type", None)
    if kind is not None and (types.is_string(kind) or types.is_large_string(kind)):
        return compute.replace_substring_regex(column, pattern=f"^{_SCHEME}", replacement="/")
    return column


# The start of the path of a file on this machine.
_SCHEME = "file:(?://)?/"


def _local(value: Any, field: str) -> Any:
    names = [name for name in (field, "file_name") if isinstance(value, dict) and isinstance(value.get(name), str)]
    return {**value, **{name: re.sub(f"^{_SCHEME}", "/", value[name]) for name in names}} if names else value


def _matrix(column: Any) -> Any:
    """Returns rows of numbers of equal length as a two-dimensional array, and ``None`` for other columns."""
    import pyarrow.compute as compute
    import pyarrow.types as types

    kind = column.type
    if not (types.is_list(kind) or types.is_large_list(kind)) or len(column) == 0 or column.null_count:
        return None
    if not (types.is_integer(kind.value_type) or types.is_floating(kind.value_type)):
        return None
    lengths = compute.min_max(compute.list_value_length(column)).as_py()
    numbers = compute.list_flatten(column)
    if lengths["min"] != lengths["max"] or lengths["min"] == 0 or numbers.null_count:
        return None
    return numbers.to_numpy(zero_copy_only=False).reshape(len(column), -1)


def _converted(column: Any) -> list[Any]:
    """Returns the values of a nested column: maps are dicts, and a field of a struct that is null is absent."""
    convert = _converter(column.type)
    found = column.to_pylist()
    return found if convert is None else [None if value is None else convert(value) for value in found]


def _converter(kind: Any) -> Callable[[Any], Any] | None:
    """Returns a function that converts the values of a type, and ``None`` for types that need no conversion."""
    import pyarrow.types as types

    if types.is_struct(kind):
        found = {field.name: _converter(field.type) for field in kind}
        fields = {name: convert for name, convert in found.items() if convert is not None}
        return lambda row: {
            name: fields[name](value) if name in fields else value
            for name, value in row.items()
            if value is not None
        }
    if types.is_map(kind):
        of_item = _converter(kind.item_type)
        return lambda row: {
            str(key): value if value is None or of_item is None else of_item(value) for key, value in row
        }
    if types.is_list(kind) or types.is_large_list(kind):
        of_value = _converter(kind.value_type)
        if of_value is None:
            return None
        return lambda row: [None if value is None else of_value(value) for value in row]
    return None


def in_order(table: Any, order: str | None) -> Any:
    """Returns objects in an order that does not depend on partitions.

    That is the order of a column, of the ids, or of the values of the objects: shape, score, class and so on.
    """
    import pyarrow
    import pyarrow.compute as compute
    import pyarrow.types as types

    if order is not None:
        return table.sort_by([(order, "ascending")])
    if "id" in table.column_names and table["id"].null_count == 0:
        return table.sort_by([("id", "ascending")])
    keys = {}
    for name in table.column_names:
        column = table[name]
        kind = column.type
        if types.is_list(kind) and name == "bbox":
            column = column.combine_chunks()
            for index in range(4):
                cut = compute.list_slice(column, index, index + 1, return_fixed_size_list=True)
                keys[f"{name}{index}"] = compute.list_flatten(cut) if column.null_count == 0 else compute.list_element(
                    column, index
                )
        elif types.is_nested(kind):
            keys[name] = pyarrow.array([json.dumps(value) for value in _converted(column)])
        elif not types.is_null(kind):
            keys[name] = column
    rows = compute.sort_indices(pyarrow.table(keys), sort_keys=[(name, "ascending") for name in keys])
    return table.take(rows)


def documents(
    references: Any,
    predictions: Any,
    categories: Sequence[tuple[Any, str]],
    fields: Sequence[str],
    order: str | None,
) -> tuple[Any, Any, list[Any]]:
    """Returns ground truth and detections of some images as the engine reads a data set, and the tables of objects.

    A reference without a class is an image that may have no objects.
    """
    import pyarrow.compute as compute

    images = references
    references = references.filter(compute.is_valid(references["class"]))
    sides = [in_order(side, order if order in side.column_names else None) for side in (references, predictions)]
    sides = [_without_nulls(side) for side in sides]
    if not fields and all(_is_plain(side) for side in sides):
        ranked = order if order in sides[1].column_names else None
        return _objects(sides[0], images, categories), _objects(sides[1], order=ranked), sides
    truth = {
        "images": _images(images, fields),
        "categories": [{"id": key, "name": name} for key, name in categories],
        "annotations": _rows(sides[0]),
    }
    return _native.dumps(truth, "references"), _native.dumps(_rows(sides[1]), "predictions"), sides


def located(error: MetricError, sides: Sequence[Any]) -> MetricError:
    """Returns an error that names the image of an object instead of its index in a task."""
    found = re.match(r"(references|predictions)(?:: (?:annotations|predictions)?)?\[(\d+)\]", error.problem)
    if found is None:
        return error
    is_truth, index = found[1] == "references", int(found[2])
    table = sides[0 if is_truth else 1]
    if index >= len(table):
        return error
    image = str(table["image"][index].as_py())
    field = _COLUMNS_OF_ARGUMENTS.get(error.field or "", error.field)
    rest = error.problem[found.end() :].replace(f": {error.field}: ", f": {field}: ", 1)
    problem = f"{found[1]}: image {json.dumps(image, ensure_ascii=False)}{rest}"
    return MetricError(problem, id=image, side="reference" if is_truth else "prediction", field=field)


def _without_nulls(table: Any) -> Any:
    """Returns a table without the columns that are null in all rows, which are fields that no object has."""
    absent = [name for name in table.column_names if len(table) and table[name].null_count == len(table)]
    return table.drop_columns(absent)


def _is_plain(table: Any) -> bool:
    """Whether objects fit in columns: all have the same fields, which are boxes or masks."""
    return "keypoints" not in table.column_names and not any(
        table[name].null_count for name in table.column_names if name not in _OF_IMAGES
    )


def _positions(column: Any) -> Any:
    import numpy

    positions = column.to_numpy()
    if len(positions) and (positions.dtype.kind not in "iu" or positions.min() < 0 or positions.max() >= 1 << 32):
        raise MetricError("order: expected positions from 0 to 4294967295", option="order")
    return numpy.ascontiguousarray(positions.astype("uint32"))


def _objects(
    table: Any, images: Any = None, categories: Sequence[tuple[Any, str]] = (), order: str | None = None
) -> dict[str, Any]:
    import numpy

    found: dict[str, Any] = {}
    for name in ("image", "class", "score", "area", "crowd", "ignore", "id"):
        if name in table.column_names:
            column = table[name].to_numpy()
            found[name] = column if column.dtype.kind in "if" else column.tolist()
    for name in ("image", "class"):
        found.setdefault(name, [])
    if "bbox" in table.column_names:
        found["bbox"] = _boxes(table["bbox"], found["image"])
    elif len(table) == 0:
        found["bbox"] = numpy.zeros((0, 4))
    if "segmentation" in table.column_names:
        found["segmentation"] = _texts(table["segmentation"])
    if images is None:
        found.setdefault("score", numpy.zeros(0))
        # Without an order, ties of scores are broken by image.
        found["position"] = numpy.zeros(len(table), "uint32") if order is None else _positions(table[order])
        return found
    listed = _images(images, ())
    found["images"] = [image["id"] for image in listed]
    sizes = [(image.get("height"), image.get("width")) for image in listed]
    if sizes and all(None not in size for size in sizes):
        found["sizes"] = [[height, width] for height, width in sizes]
    found["classes"] = list(categories)
    return found


def _boxes(column: Any, images: Any) -> Any:
    import numpy
    import pyarrow.compute as compute

    lengths = compute.list_value_length(column)
    wrong = compute.index(compute.equal(lengths, 4), False).as_py()
    if wrong >= 0:
        raise MetricError(
            f'image "{images[wrong]}": bbox: found {lengths[wrong].as_py()} numbers: expected 4',
            id=str(images[wrong]),
            field="bbox",
        )
    numbers = compute.list_flatten(column).to_numpy()
    return numpy.ascontiguousarray(numbers.astype("float64").reshape(-1, 4))


def _texts(column: Any) -> list[str]:
    """Returns values as JSON texts. Strings are JSON already."""
    return [value if isinstance(value, str) else json.dumps(value) for value in _converted(column)]


def _images(table: Any, fields: Iterable[str]) -> list[dict[str, Any]]:
    """Returns the images of rows, each once, with their sizes and further fields."""
    names = [name for name in (*_OF_IMAGES, *fields) if name in table.column_names]
    rows = table.select(["image", *names]).to_pylist()
    images: dict[Any, dict[str, Any]] = {}
    for row in rows:
        image = images.setdefault(row["image"], {"id": row["image"]})
        for name in names:
            if row[name] is not None:
                image.setdefault(name, row[name])
    return list(images.values())


def _rows(table: Any) -> list[dict[str, Any]]:
    names = [name for name in table.column_names if name not in _OF_IMAGES and name in OBJECT_COLUMNS]
    columns = {_FIELDS.get(name, name): _converted(table[name]) for name in names}
    if "segmentation" in columns:
        columns["segmentation"] = [
            json.loads(value) if isinstance(value, str) else value for value in columns["segmentation"]
        ]
    names = [str(name) for name in columns]
    rows = zip(*columns.values())
    return [{name: value for name, value in zip(names, row) if value is not None} for row in rows]


def named(columns: Sequence[str], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Returns the columns of objects that a frame has, by their role."""
    given = given or {}
    found = {}
    for name, known in OBJECT_COLUMNS.items():
        column = given.get(name) or next((column for column in known if column in columns), None)
        if column is not None:
            found[name] = column
    return found
