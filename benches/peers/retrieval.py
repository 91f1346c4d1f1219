"""Measures of a run of TREC by pytrec_eval, from its files."""

import pytrec_eval
from measure import measure

NAMES = {
    "ndcg": "ndcg",
    "ndcg@10": "ndcg_cut_10",
    "map": "map",
    "mrr": "recip_rank",
    "precision@10": "P_10",
    "recall@10": "recall_10",
}


def work():
    with open("r.qrels", encoding="utf-8") as file:
        judgments = pytrec_eval.parse_qrel(file)
    with open("p.run", encoding="utf-8") as file:
        run = pytrec_eval.parse_run(file)
    measures = {"ndcg", "ndcg_cut.10", "map", "recip_rank", "P.10", "recall.10"}
    topics = pytrec_eval.RelevanceEvaluator(judgments, measures).evaluate(run).values()
    return {ours: sum(topic[theirs] for topic in topics) / len(topics) for ours, theirs in NAMES.items()}


measure(work)
