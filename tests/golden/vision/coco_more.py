"""Makes coco_more.jsonl: random data sets with masks, pooled classes and other definitions, scored by
pycocotools 2.0.11 (pip install pycocotools==2.0.11 numpy). usage: python coco_more.py > coco_more.jsonl"""
import contextlib, copy, hashlib, io, json, random
import numpy as np
from pycocotools import mask as mask_utils
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

random.seed(20261121)
SIDE = 120


def blob(x, y, w, h):
    """A polygon in a box."""
    points = []
    for step in range(8):
        angle = 2 * np.pi * step / 8
        radius = random.uniform(0.6, 1.0) / 2
        points += [round(x + w / 2 + radius * w * np.cos(angle), 2),
                   round(y + h / 2 + radius * h * np.sin(angle), 2)]
    return points


def rle(polygon, compressed):
    encoded = mask_utils.frPyObjects([polygon], SIDE, SIDE)[0]
    if compressed:
        return {"size": [SIDE, SIDE], "counts": encoded["counts"].decode()}
    pixels = mask_utils.decode(encoded).flatten(order="F")
    counts, value = [], 0
    place = 0
    while place < len(pixels):
        end = place
        while end < len(pixels) and pixels[end] == value:
            end += 1
        counts.append(int(end - place))
        place, value = end, 1 - value
    return {"size": [SIDE, SIDE], "counts": counts}


def box():
    w, h = (random.choice([6, 10, 30, 33, 60, 97]) for _ in range(2))
    return [random.randint(0, SIDE - 10), random.randint(0, SIDE - 10), w, h]


def moved(b):
    return [n + random.choice([-2, -1, 0, 0, 0, 1, 2]) for n in b[:2]] + [max(1, n + random.choice([-1, 0, 0, 1])) for n in b[2:]]


def data(images, form):
    gt = {"images": [{"id": i, "height": SIDE, "width": SIDE} for i in range(1, images + 1)],
          "categories": [{"id": c, "name": f"c{c}"} for c in (2, 5, 9)], "annotations": []}
    dt = []
    for image in range(1, images + 1):
        for _ in range(random.randint(0, 5)):
            b, category = box(), random.choice([2, 5])
            polygon, crowd = blob(*b), int(random.random() < 0.15)
            segmentation = rle(polygon, False) if crowd else random.choice(
                [[polygon], rle(polygon, True), [polygon, blob(*box())]])
            gt["annotations"].append({
                "id": len(gt["annotations"]) + 1, "image_id": image, "category_id": category, "bbox": b,
                "area": round(b[2] * b[3] * 0.7, 2), "iscrowd": crowd, "segmentation": segmentation})
            for _ in range(random.randint(0, 3)):
                m = moved(b)
                one = {"image_id": image, "category_id": random.choice([category, category, 9, 5]),
                       "score": random.choice([0.1, 0.5, 0.5, 0.9, round(random.random(), 3)])}
                if form != "mask":
                    one["bbox"] = m
                if form != "box":
                    shape = polygon if random.random() < 0.5 else blob(*m)
                    one["segmentation"] = rle(shape, form == "mask" or random.random() < 0.7)
                dt.append(one)
    random.shuffle(dt)
    return gt, dt


def evaluate(gt, dt, iou_type, params):
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = copy.deepcopy(gt)
        truth.createIndex()
        found = truth.loadRes(copy.deepcopy(dt))
        run = COCOeval(truth, found, iou_type)
        for name, value in params.items():
            setattr(run.params, name, np.array(value) if name == "iouThrs" else value)
        run.evaluate()
        run.accumulate()
    sha = {name: hashlib.sha256(np.ascontiguousarray(run.eval[name], dtype="<f8").tobytes()).hexdigest()
           for name in ("precision", "recall", "scores")}
    expected = {"shape": list(run.eval["precision"].shape), "sha256_f64le": sha}
    if "areaRng" not in params:
        with contextlib.redirect_stdout(io.StringIO()):
            run.summarize()
        expected["stats"] = run.stats.tolist()
    return expected


print(json.dumps({"_about": {
    "source": "made-up data sets by coco_more.py; expected: pycocotools 2.0.11 (the twelve numbers, shape and SHA-256 of the arrays as little-endian f64)",
    "licence": "MIT OR Apache-2.0"}}))
CASES = [("bbox", "box", {}), ("segm", "mask", {}), ("segm", "both", {}), ("segm", "box", {}), ("bbox", "mask", {}),
         ("bbox", "box", {"useCats": 0}), ("segm", "mask", {"useCats": 0}),
         ("bbox", "box", {"maxDets": [1, 2, 3]}),
         ("bbox", "both", {"iouThrs": [0.9, 0.5, 0.05]}),
         ("bbox", "box", {"areaRng": [[0, 1e10], [0, 100], [100, 1000], [1000, 2000], [2000, 1e10], [50, 5000], [0, 0]],
                          "areaRngLbl": ["all", "a", "b", "c", "d", "e", "f"]})]
for case, (iou_type, form, params) in enumerate(CASES):
    for size in (1, 4, 9):
        gt, dt = data(size, form)
        while not dt:
            gt, dt = data(size, form)
        print(json.dumps({"id": f"more-{case}-{size}", "gt": json.dumps(gt), "dt": json.dumps(dt), "iou_type": iou_type,
                          "params": params, "expected": evaluate(gt, dt, iou_type, params)}))
