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
    evaluation.params.maxDets = [300]
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    stats = evaluation.stats_as_dict
    names = ["AP_all", "AP_50", "AP_75", "AP_small", "AP_medium", "AP_large", "APr", "APc", "APf"]
    return [stats[name] for name in [*names, "AR_all", "AR_small", "AR_medium", "AR_large"]]


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
