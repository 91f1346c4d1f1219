"""The OpenLane-V2 Score by its devkit.

Two of the devkit's imports are replaced by stubs. `ortools.graph.pywrapgraph` is in releases of
OR-Tools that current Python has no wheels of: it serves the F-score of lanes alone, which is left
out on both sides. `cv2` serves its pictures.
"""

import json
import sys
import types

import numpy
from measure import measure

for name in ["cv2", "ortools", "ortools.graph", "ortools.graph.pywrapgraph"]:
    sys.modules[name] = types.ModuleType(name)
sys.modules["ortools.graph"].pywrapgraph = sys.modules["ortools.graph.pywrapgraph"]

from openlanev2.centerline.evaluation import evaluate as devkit  # noqa: E402

module = sys.modules[devkit.__module__]
module.f1.bench_one_submit = lambda gts, preds: float("nan")


def arrays(frame):
    for kind in ["lane_centerline", "traffic_element"]:
        for element in frame[kind]:
            element["points"] = numpy.array(element["points"])
    for kind in ["topology_lclc", "topology_lcte"]:
        frame[kind] = numpy.array(frame[kind])
    return frame


def frames(path, field):
    with open(path) as lines:
        rows = map(json.loads, lines)
        return {row["id"]: arrays(row[field]) for row in rows}


def work():
    truths = {
        key: {"annotation": frame}
        for key, frame in frames("r.jsonl", "reference").items()
    }
    results = {
        key: {"predictions": frame}
        for key, frame in frames("p.jsonl", "prediction").items()
    }
    score = devkit(truths, {"results": results}, verbose=False)["OpenLane-V2 Score"]
    score["OLS"] = score.pop("score")
    return score


measure(work)
