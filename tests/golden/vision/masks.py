"""Random masks with the results of pycocotools 2.0.11: python masks.py SEED ROWS.

Made masks.jsonl, after its first line. Each row has two masks, from polygons, run lengths or a box
(also degenerate, repeated, tiny, off the image), with COCO's text, area and box of each, and their
IoU without and with the second as a crowd.
"""
import json, random, sys
import numpy as np
from pycocotools import _mask

rng = random.Random(int(sys.argv[1]))
rows = int(sys.argv[2])

def number(low, high):
    value = rng.uniform(low, high)
    return rng.choice([value, round(value, 2), float(round(value)), round(value * 2) / 2, round(value * 10) / 10])

def polygon(h, w):
    kind = rng.choice(["blob", "any", "tiny", "outside", "two", "one", "flat", "repeat", "large"])
    if kind == "two":
        return [number(-2, w + 2) if i % 2 == 0 else number(-2, h + 2) for i in range(4)]
    if kind == "one":
        return [number(0, w), number(0, h)]
    k = rng.randint(3, 9)
    if kind == "blob":
        cx, cy = number(0, w), number(0, h)
        points = [(cx + r * w * np.cos(t), cy + r * h * np.sin(t))
                  for t in np.linspace(0, 6.28, k, endpoint=False) for r in [rng.uniform(.1, .5)]]
        points = [(round(float(x), 2), round(float(y), 2)) for x, y in points]
    elif kind == "any":
        points = [(number(0, w), number(0, h)) for _ in range(k)]
    elif kind == "tiny":
        cx, cy = number(0, w), number(0, h)
        points = [(cx + rng.uniform(-1, 1), cy + rng.uniform(-1, 1)) for _ in range(k)]
    elif kind == "outside":
        points = [(number(-w, 2 * w), number(-h, 2 * h)) for _ in range(k)]
    elif kind == "flat":
        y = number(-1, h + 1)
        points = [(number(-1, w + 1), y) for _ in range(k)]
        if rng.random() < .5:
            points = [(b, a) for a, b in points]
    elif kind == "repeat":
        points = [(number(0, w), number(0, h)) for _ in range(3)]
        points = [p for p in points for _ in range(rng.randint(1, 2))] + [points[0]]
    else:
        points = [(number(-1000, 1000), number(-1000, 1000)) for _ in range(k)]
    return [float(v) for p in points for v in p]

def side(h, w):
    kind = rng.choice(["polygons", "polygons", "counts", "bbox"])
    if kind == "polygons":
        value = [polygon(h, w) for _ in range(rng.choice([1, 1, 2, 3]))]
        rle = _mask.merge(_mask.frPoly(value, h, w), 0)
    elif kind == "counts":
        left, value = h * w, []
        while left:
            run = min(left, rng.choice([1, 2, rng.randint(1, h), rng.randint(1, h * w)]))
            value.append(run if value or rng.random() < .8 else 0)
            left -= value[-1]
        rle = _mask.frPyObjects({"size": [h, w], "counts": value}, h, w)
    else:
        value = [number(-2, w), number(-2, h), number(-1, w), number(-1, h)]
        rle = _mask.frBbox(np.array([value]), h, w)[0]
    return rle, {"size": [h, w], kind: value, "text": rle["counts"].decode(),
                 "area": int(_mask.area([rle])[0]), "box": [int(v) for v in _mask.toBbox([rle])[0]]}

for i in range(rows):
    top = rng.choice([1, 3, 12, 40, 40, 200])
    h, w = rng.randint(1, top), rng.randint(1, top)
    (ra, a), (rb, b) = side(h, w), side(h, w)
    iou, crowd = (float(_mask.iou([ra], [rb], [c])[0, 0]) for c in (0, 1))
    print(json.dumps({"id": f"mask{i:03}", "a": a, "b": b, "iou": iou, "iou_crowd": crowd}))
