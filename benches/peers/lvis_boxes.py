"""LVIS's 13 numbers of boxes, by the package named in the first argument."""

import sys

from measure import measure

PACKAGE = sys.argv[1]
NAMES = [
    *["AP", "AP50", "AP75", "AP_small", "AP_medium", "AP_large", "AP_r", "AP_c", "AP_f"],
    *["AR_300", "AR_small", "AR_medium", "AR_large"],
]


def of_lvis():
    import types

    import numpy

    numpy.float = float  # lvis 0.5.3 uses this name, which NumPy 1.24 removed.
    # It also draws, with packages that its numbers do not need.
    sys.modules["lvis.vis"] = types.ModuleType("lvis.vis")
    sys.modules["lvis.vis"].LVISVis = None
    from lvis import LVIS, LVISEval, LVISResults

    truth = LVIS("r.json")
    evaluation = LVISEval(truth, LVISResults(truth, "p.json"), "bbox")
    evaluation.run()
    return evaluation.get_results().values()


def of_faster_coco_eval():
    from faster_coco_eval import COCO
    from faster_coco_eval import COCOeval_faster as COCOeval

    truth = COCO("r.json")
    evaluation = COCOeval(truth, truth.loadRes("p.json"), "bbox", lvis_style=True)
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    # It also has the recall of 1 and 10 detections, and at the thresholds 0.5 and 0.75, before the frequencies.
    stats = list(evaluation.stats)
    return [*stats[:6], *stats[14:17], *stats[8:12]]


def of_hotcoco():
    from hotcoco import COCO, COCOeval

    truth = COCO("r.json")
    evaluation = COCOeval(truth, truth.load_res("p.json"), "bbox", lvis_style=True)
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    return list(evaluation.stats)[:13]


RUN = {"lvis": of_lvis, "faster-coco-eval": of_faster_coco_eval, "hotcoco": of_hotcoco}
if PACKAGE not in RUN:
    sys.exit(f"no package {PACKAGE!r}")


def work():
    # -1 says that there is nothing to score.
    return dict(zip(NAMES, (None if value == -1 else value for value in RUN[PACKAGE]())))


measure(work)
