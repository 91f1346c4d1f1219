"""A small data set for each metric, as rows of a frame, with the result of one process."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import metric_suite

_GOLDEN = Path(__file__).parents[2] / "tests" / "golden"
_WORDS = "the a cat dog sat on mat ran far away is was 1 2".split()


def _golden(name: str, count: int) -> list[dict[str, Any]]:
    with open(_GOLDEN / name, encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if "_about" not in row]
    return rows[:count]


@dataclass
class Case:
    """Examples by rows: their ids, references, predictions and further columns."""

    metric: str
    #: The types of references and predictions in a frame.
    types: tuple[str, str]
    rows: list[tuple[Any, Any]]
    options: dict[str, Any] = field(default_factory=dict)
    #: Whether the columns are JSON texts.
    is_json: bool = False

    @property
    def ids(self) -> list[str]:
        return [f"id-{place:04}" for place in range(len(self.rows))]

    @property
    def fields(self) -> dict[str, list[str]]:
        return {"topic": [("news", "sport", "art")[place % 3] for place in range(len(self.rows))]}

    def expected(self, **options: Any) -> metric_suite.Metric:
        """One process, from values in memory."""
        references, predictions = (list(side) for side in zip(*self.rows))
        if self.is_json:
            references, predictions = ([json.loads(text) for text in side] for side in (references, predictions))
        metric = metric_suite.Metric(self.metric, **{**self.options, **options})
        return metric.update(predictions, references, ids=self.ids, fields=self.fields)

    def frame(self, session: Any) -> Any:
        rows = [
            (id, *row, topic) for id, row, topic in zip(self.ids, self.rows, self.fields["topic"])
        ]
        schema = f"id string, reference {self.types[0]}, prediction {self.types[1]}, topic string"
        return session.createDataFrame(rows, schema)

    @property
    def arguments(self) -> dict[str, Any]:
        return {**self.options, **({"json": True} if self.is_json else {})}


def _text(random_: random.Random) -> str:
    return " ".join(random_.choices(_WORDS, k=random_.randrange(1, 8)))


def _changed(random_: random.Random, text: str) -> str:
    words = text.split()
    words[random_.randrange(len(words))] = random_.choice(_WORDS)
    return " ".join(words) if random_.random() < 0.7 else text


def _texts(count: int = 60, several: bool = False) -> list[tuple[Any, Any]]:
    random_ = random.Random(f"texts {several}")
    rows = []
    for _ in range(count):
        text = _text(random_)
        rows.append(([text, _text(random_)] if several else text, _changed(random_, text)))
    return rows


def _codes(count: int = 24) -> list[tuple[Any, Any]]:
    random_ = random.Random(7)
    lines = ["x = 1", "y = x + 2", "print(x)", "for i in range(3):\n    x += i", "if x:\n    y = 3", "return y"]
    rows = []
    for _ in range(count):
        chosen = random_.choices(lines, k=4)
        code = "def f(x):\n" + "\n".join("    " + line.replace("\n", "\n    ") for line in chosen)
        rows.append((code, code.replace("x", "z", random_.randrange(3))))
    return rows


def _grids(count: int = 40) -> list[tuple[Any, Any]]:
    random_ = random.Random(9)
    rows = []
    for _ in range(count):
        grid = [[random_.randrange(10) for _ in range(4)] for _ in range(3)]
        other = [row[:] for row in grid]
        if random_.random() < 0.5:
            other[0][0] = 11 if random_.random() < 0.2 else 1
        rows.append((grid, other))
    return rows


def _tasks(count: int = 30) -> list[tuple[Any, Any]]:
    random_ = random.Random(10)
    rows = []
    for _ in range(count):
        grids = [[[random_.randrange(3)]] for _ in range(random_.randrange(1, 3))]
        attempts = [{"attempt_1": [[random_.randrange(3)]], "attempt_2": [[random_.randrange(3)]]} for _ in grids]
        rows.append((grids, attempts))
    return rows


def _boxes_of(random_: random.Random) -> list[list[float]]:
    return [[random_.randrange(50), random_.randrange(50), 10.0, 20.0] for _ in range(random_.randrange(4))]


def _items(count: int = 50) -> list[tuple[Any, Any]]:
    random_ = random.Random(11)
    rows = []
    for _ in range(count):
        boxes = _boxes_of(random_)
        moved = [[x + random_.randrange(4), y, w, h] for x, y, w, h in boxes]
        rows.append(([[float(n) for n in box] for box in boxes], [[float(n) for n in box] for box in moved]))
    return rows


def _labels(count: int = 80) -> list[tuple[Any, Any]]:
    random_ = random.Random(12)
    return [(random_.randrange(4), random_.randrange(4)) for _ in range(count)]


def _names(count: int = 80) -> list[tuple[Any, Any]]:
    random_ = random.Random(13)
    return [(random_.choice("abcd"), random_.choice("abcd")) for _ in range(count)]


def _scores(count: int = 70) -> list[tuple[Any, Any]]:
    random_ = random.Random(14)
    return [(random_.randrange(8), [random_.random() for _ in range(8)]) for _ in range(count)]


def _numbers(count: int = 90, *, whole: bool = False) -> list[tuple[Any, Any]]:
    random_ = random.Random(18)
    if whole:
        return [(random_.randrange(5), random_.randrange(9) / 2) for _ in range(count)]
    return [(random_.gauss(0, 1), random_.gauss(0, 1)) for _ in range(count)]


def _label_sets(count: int = 80) -> list[tuple[Any, Any]]:
    random_ = random.Random(19)

    def labels() -> list[str]:
        return random_.sample("abcde", random_.randrange(4))

    return [(labels(), labels()) for _ in range(count)]


def _scored_labels(count: int = 80) -> list[tuple[Any, Any]]:
    random_ = random.Random(20)
    return [
        (labels, {label: random_.randrange(9) / 8 for label in "abcde"})
        for labels, _ in _label_sets(count)
    ]


def _label_scores(count: int = 70) -> list[tuple[Any, Any]]:
    random_ = random.Random(16)
    return [(random_.randrange(2), random_.random()) for _ in range(count)]


def _maps(count: int = 40) -> list[tuple[Any, Any]]:
    random_ = random.Random(23)

    def rows(labels: list[int]) -> list[list[int]]:
        return [[random_.choice(labels) for _ in range(3)] for _ in range(2)]

    return [(rows([7, 8, 11, 0]), rows([7, 8, 11, 0])) for _ in range(count)]


def _topics(count: int = 40) -> list[tuple[Any, Any]]:
    random_ = random.Random(19)
    names = [f"d{index}" for index in range(9)]

    def documents(number: Any) -> dict[str, Any]:
        return {name: number() for name in random_.sample(names, 5)}

    return [
        (documents(lambda: random_.randrange(3)), documents(lambda: random_.randrange(7) / 2))
        for _ in range(count)
    ]


def _ranked(count: int = 70) -> list[tuple[Any, Any]]:
    random_ = random.Random(15)
    return [(random_.randrange(9), random_.sample(range(9), 5)) for _ in range(count)]


def _clips() -> list[tuple[Any, Any]]:
    return [(json.dumps(row["label"]), json.dumps(row["pred"])) for row in _golden("graph/mapdr_samples.jsonl", 40)]


def _segments() -> list[tuple[Any, Any]]:
    random_ = random.Random(5)

    def side(pixels: list[int]) -> str:
        infos = [{"id": id_, "category_id": id_ % 3, "isthing": id_ % 3 % 2} for id_ in sorted(set(pixels) - {0})]
        return json.dumps({"ids": [pixels[:4], pixels[4:]], "segments_info": infos})

    rows = []
    for _ in range(12):
        truth = [random_.randrange(5) for _ in range(8)]
        found = [random_.choice([pixel, pixel, pixel, 2]) for pixel in truth]
        rows.append((side(truth), side(found)))
    return rows


def _frames() -> list[tuple[Any, Any]]:
    return [(json.dumps(row["gt"]), json.dumps(row["pred"])) for row in _golden("graph/openlanev2_frames.jsonl", 12)]


def _votes(count: int = 40) -> list[tuple[Any, Any]]:
    random_ = random.Random(16)
    return [([random_.choice(_WORDS) for _ in range(10)], random_.choice(_WORDS)) for _ in range(count)]


def _sessions(count: int = 30) -> list[tuple[Any, Any]]:
    random_ = random.Random(17)

    def side(names: str) -> list[dict[str, Any]]:
        segments = []
        for _ in range(1 + random_.randrange(3)):
            start = random_.randrange(40) / 4
            words = " ".join(random_.choice("abc") for _ in range(random_.randrange(4)))
            segments.append({"speaker": random_.choice(names), "start": start, "end": start + 2.5, "words": words})
        return segments

    return [(side("AB"), side("xyz")) for _ in range(count)]


_SEGMENTS = "array<struct<speaker: string, start: double, end: double, words: string>>"
_GRID = "array<array<int>>"
_BOXES = "array<array<double>>"

#: By shape: the types of references and predictions in a frame, and rows of them. A shape may have several.
_ROWS: dict[str, list[tuple[tuple[str, str], list[tuple[Any, Any]]]]] = {
    "texts": [(("string", "string"), _texts())],
    "answers": [(("array<string>", "string"), _texts(several=True))],
    "votes": [(("string", "array<string>"), [(one, list(many)) for many, one in _votes()])],
    "questions": [(("array<string>", "string"), _votes())],
    "sessions": [((_SEGMENTS, _SEGMENTS), _sessions())],
    "numbers": [(("string", "string"), _texts())],
    "code": [(("string", "string"), _codes())],
    "number-pairs": [(("double", "double"), _numbers()), (("int", "float"), _numbers(whole=True))],
    "labels": [(("int", "bigint"), _labels()), (("string", "string"), _names())],
    "label-sets": [(("array<string>", "array<string>"), _label_sets())],
    "scored-labels": [(("array<string>", "map<string,double>"), _scored_labels())],
    "class-scores": [(("int", "array<double>"), _scores())],
    "label-scores": [(("int", "double"), _label_scores())],
    "topics": [(("map<string,int>", "map<string,double>"), _topics())],
    "label-maps": [(("array<array<int>>", "array<array<int>>"), _maps())],
    "ranked-labels": [(("int", "array<int>"), _ranked())],
    "grids": [((_GRID, _GRID), _grids())],
    "grid-tasks": [((f"array<{_GRID}>", f"array<struct<attempt_1: {_GRID}, attempt_2: {_GRID}>>"), _tasks())],
    "boxes": [((_BOXES, _BOXES), _items())],
    # As JSON.
    "segments": [(("string", "string"), _segments())],
    "rules": [(("string", "string"), _clips())],
    "frames": [(("string", "string"), _frames())],
}

#: The options without which a metric has no score.
_NEEDED: dict[str, dict[str, Any]] = {"codebleu": {"lang": "python"}}


def _cases() -> dict[str, Case]:
    cases = {}
    for metric in metric_suite.metrics():
        for shape in metric.shapes:
            for types, rows in _ROWS.get(shape["name"], []):
                name = f"{metric.name} {shape['name']}".removesuffix(f" {metric.shapes[0]['name']}")
                name += f" {types[0]}" if name in cases else ""
                options = {**_NEEDED.get(metric.name, {}), **shape["options"]}
                cases[name] = Case(metric.name, types, rows, options, shape["name"] in ("rules", "frames", "segments"))
    return cases


#: Every metric under a name of its own, on each shape of values that it takes. Objects of images are below.
RECORDS: dict[str, Case] = _cases()
#: Those that represent the kinds of state: counts, groups, rows, exact sums.
KINDS = ("wer", "classification", "openlane", "anls")


def objects(images: int = 40, seed: int = 3) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A ground truth and detections in COCO's form. Some images have no objects."""
    random_ = random.Random(seed)
    annotations, found = [], []
    for image in range(images):
        for _ in range(random_.randrange(5)):
            x, y, w, h = random_.randrange(200), random_.randrange(200), 5 + random_.randrange(150), 5 + random_.randrange(150)
            name = random_.choice([1, 2, 7])
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": image,
                    "category_id": name,
                    "bbox": [float(x), float(y), float(w), float(h)],
                    "area": float(w * h),
                    "iscrowd": int(random_.random() < 0.05),
                }
            )
            moved = [x + random_.randrange(9), float(y), float(w), h + random_.randrange(9)]
            if random_.random() < 0.8:
                found.append(
                    {
                        "image_id": image,
                        "category_id": name if random_.random() < 0.9 else 2,
                        "bbox": [float(number) for number in moved],
                        # Equal scores are common.
                        "score": random_.randrange(10) / 10,
                    }
                )
    truth = {
        "images": [{"id": image, "width": 400, "height": 400} for image in range(images)],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}, {"id": 7, "name": "emu"}],
        "annotations": annotations,
    }
    return truth, found


_OBJECT = "image_id bigint, category_id bigint, bbox array<double>"


def object_frames(session: Any, truth: dict[str, Any], found: list[dict[str, Any]]) -> tuple[Any, Any, Any]:
    """Frames of ground truth, detections with their positions, and images."""
    names = ["image_id", "category_id", "bbox", "id", "area", "iscrowd"]
    references = session.createDataFrame(
        [tuple(row[name] for name in names) for row in truth["annotations"]], f"{_OBJECT}, id bigint, area double, iscrowd int"
    )
    predictions = session.createDataFrame(
        [(row["image_id"], row["category_id"], row["bbox"], row["score"], place) for place, row in enumerate(found)],
        f"{_OBJECT}, score double, position bigint",
    )
    images = session.createDataFrame(
        [(image["id"], image["width"], image["height"]) for image in truth["images"]], "id bigint, width int, height int"
    )
    return references, predictions, images
