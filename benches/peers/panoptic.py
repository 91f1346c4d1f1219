"""Panoptic quality of two files with folders of PNG files, by hotcoco."""

from hotcoco.panoptic import pq_compute
from measure import measure


def work():
    results = pq_compute("r.json", "p.json")
    kinds = {"All": "", "Things": "_things", "Stuff": "_stuff"}
    return {
        name.upper() + suffix: results[kind][name]
        for kind, suffix in kinds.items()
        for name in ("pq", "sq", "rq")
    }


measure(work)
