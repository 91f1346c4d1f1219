"""COCO's twelve numbers of boxes, by the package named in the first argument."""

import sys

from measure import measure

PACKAGE = sys.argv[1]
if PACKAGE == "pycocotools":
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval
elif PACKAGE == "faster-coco-eval":
    from faster_coco_eval import COCO
    from faster_coco_eval import COCOeval_faster as COCOeval
elif PACKAGE == "hotcoco":
    from hotcoco import COCO, COCOeval
elif PACKAGE == "ultrafast-pycocotools":
    from ultrafast_pycocotools.coco import COCO
    from ultrafast_pycocotools.cocoeval import COCOeval
else:
    sys.exit(f"no package {PACKAGE!r}")

NAMES = [
    *["AP", "AP50", "AP75", "AP_small", "AP_medium", "AP_large"],
    *["AR_1", "AR_10", "AR_100", "AR_small", "AR_medium", "AR_large"],
]


def work():
    truth = COCO("r.json")
    load = truth.load_res if PACKAGE == "hotcoco" else truth.loadRes
    evaluation = COCOeval(truth, load("p.json"), "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    # -1 says that there is nothing to score.
    stats = [None if value == -1 else value for value in evaluation.stats]
    return dict(zip(NAMES, stats))


measure(work)
