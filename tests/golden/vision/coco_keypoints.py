"""Makes coco_keypoints.jsonl: random data sets with keypoints, scored by pycocotools 2.0.11
(pip install pycocotools==2.0.11 numpy). usage: python coco_keypoints.py > coco_keypoints.jsonl"""
import contextlib, copy, hashlib, io, json, random
import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

random.seed(20261122)
SIDE = 640


def person(points):
    """A box, and points in it."""
    w, h = random.choice([(20, 30), (50, 60), (97, 96), (150, 300)])
    x, y = random.randint(0, SIDE - w), random.randint(0, SIDE - h)
    return [x, y, w, h], [[x + random.random() * w, y + random.random() * h] for _ in range(points)]


def data(images, form, points):
    gt = {"images": [{"id": i} for i in range(1, images + 1)],
          "categories": [{"id": c, "name": f"c{c}"} for c in (1, 7)], "annotations": []}
    dt = []
    for image in range(1, images + 1):
        for _ in range(random.randint(0, 6)):
            (x, y, w, h), joints = person(points)
            category, whole = random.choice([1, 1, 7]), random.random() < 0.5
            unlabeled = random.random() < 0.15
            keypoints, labeled = [], 0
            for px, py in joints:
                v = 0 if unlabeled else random.choice([0, 1, 2, 2, 2])
                labeled += v > 0
                keypoints += [0, 0, 0] if v == 0 else [round(px) if whole else round(px, 2), round(py) if whole else round(py, 2), v]
            # The number of points may be wrong too.
            count = random.choice([labeled] * 12 + [0, 3])
            gt["annotations"].append({
                "id": len(gt["annotations"]) + 1, "image_id": image, "category_id": category, "bbox": [x, y, w, h],
                "area": round(w * h * random.uniform(0.4, 1), 4), "iscrowd": int(random.random() < 0.1),
                "num_keypoints": count, "keypoints": keypoints})
            for _ in range(random.randint(0, 3)):
                near = random.choice([0, 0.02, 0.05, 0.1, 0.3]) * (w * h) ** 0.5
                found = []
                for (px, py) in joints:
                    found += [round(px + random.gauss(0, near), random.choice([0, 2, 4])),
                              round(py + random.gauss(0, near), random.choice([0, 2, 4])), 1]
                one = {"image_id": image, "category_id": random.choice([category] * 5 + [1, 7]),
                       "score": random.choice([0.1, 0.5, 0.5, 0.9, round(random.random(), 3)]), "keypoints": found}
                if form == "box":
                    one["bbox"] = [x + random.randint(-2, 2), y, w + random.randint(-5, 5), h]
                dt.append(one)
    random.shuffle(dt)
    return gt, dt


def evaluate(gt, dt, params):
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = copy.deepcopy(gt)
        truth.createIndex()
        found = truth.loadRes(copy.deepcopy(dt))
        run = COCOeval(truth, found, "keypoints")
        for name, value in params.items():
            setattr(run.params, name, np.array(value) if name in ("iouThrs", "kpt_oks_sigmas") else value)
        run.evaluate()
        run.accumulate()
        run.summarize()
    sha = {name: hashlib.sha256(np.ascontiguousarray(run.eval[name], dtype="<f8").tobytes()).hexdigest()
           for name in ("precision", "recall", "scores")}
    return {"shape": list(run.eval["precision"].shape), "sha256_f64le": sha, "stats": run.stats.tolist()}


print(json.dumps({"_about": {
    "source": "made-up data sets by coco_keypoints.py; expected: pycocotools 2.0.11 (the ten numbers, shape and SHA-256 of the arrays as little-endian f64)",
    "licence": "MIT OR Apache-2.0"}}))
CASES = [("points", 17, {}), ("box", 17, {}),
         ("points", 5, {"kpt_oks_sigmas": [0.026, 0.035, 0.079, 0.107, 0.089]}),
         ("points", 1, {"kpt_oks_sigmas": [0.5]}),
         ("points", 9, {"kpt_oks_sigmas": [0.05] * 9, "maxDets": [1, 20]}),
         ("points", 17, {"maxDets": [1, 2]}),
         ("box", 17, {"iouThrs": [0.9, 0.5, 0.05]})]
for case, (form, points, params) in enumerate(CASES):
    for size in (2, 6, 15):
        gt, dt = data(size, form, points)
        while not dt:
            gt, dt = data(size, form, points)
        print(json.dumps({"id": f"keypoints-{case}-{size}", "gt": json.dumps(gt), "dt": json.dumps(dt),
                          "params": params, "expected": evaluate(gt, dt, params)}))
