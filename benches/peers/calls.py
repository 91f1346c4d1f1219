"""Calls from Python on values in memory: `calls.py PACKAGE CALL ROOT`.

The package is `metric_suite`, of the folder of the workspace, or a peer. Both are called in the same way, and what
is read from files is read before the time starts. Calls of one pair are many, one after the other.
"""

import importlib
import json
import os
import sys

from measure import lines, measure, records

PACKAGE, CALL, ROOT = sys.argv[1:]
OURS = PACKAGE == "metric_suite"
if OURS:
    sys.path.insert(0, os.path.join(ROOT, "python"))
THREADS = int(os.environ.get("RAYON_NUM_THREADS", "1"))
# The number of pairs that are scored by one call each.
SINGLE = 10_000

COCO_NAMES = [
    *["AP", "AP50", "AP75", "AP_small", "AP_medium", "AP_large"],
    *["AR_1", "AR_10", "AR_100", "AR_small", "AR_medium", "AR_large"],
]


def drop_in(name):
    """The module of a package, or ours that takes its place."""
    return importlib.import_module(f"metric_suite.compat.{name}" if OURS else name)


def imported():
    def work():
        importlib.import_module("sklearn.metrics" if PACKAGE == "scikit-learn" else PACKAGE)
        return {}

    return work


def wer():
    jiwer = drop_in("jiwer")
    references, predictions = lines("r.txt"), lines("p.txt")
    return lambda: {"wer": jiwer.wer(references, predictions)}


def wer_single():
    jiwer = drop_in("jiwer")
    pairs = list(zip(lines("r.txt"), lines("p.txt")))[:SINGLE]
    # The pairs are short, so that it is the call that counts.
    pairs = [(reference[:24], prediction[:24]) for reference, prediction in pairs]

    def work():
        total = 0.0
        for reference, prediction in pairs:
            total += jiwer.wer(reference, prediction)
        return {"wer": total}

    return work


def wer_single_score():
    """The same by `score`, which has all metrics."""
    if not OURS:
        return wer_single()
    from metric_suite import score

    pairs = list(zip(lines("r.txt"), lines("p.txt")))[:SINGLE]
    pairs = [([reference[:24]], [prediction[:24]]) for reference, prediction in pairs]

    def work():
        total = 0.0
        for references, predictions in pairs:
            total += score("wer", predictions=predictions, references=references)["wer"]
        return {"wer": total}

    return work


def codebleu():
    if not OURS:
        import ordered  # noqa: F401
    calc_codebleu = drop_in("codebleu").calc_codebleu
    references = [[text] for text in records("r.jsonl", "reference")]
    predictions = records("p.jsonl", "prediction")

    def work():
        score = calc_codebleu(references, predictions, "java")
        return {name.removesuffix("_score"): value for name, value in score.items()}

    def single():
        pairs = zip(references, predictions)
        return {"codebleu": sum(calc_codebleu([one], [found], "java")["codebleu"] for one, found in pairs)}

    return single if CALL == "codebleu_single" else work


def coco():
    import numpy

    with open("r.json") as file:
        truth = json.load(file)
    with open("p.json") as file:
        found = json.load(file)
    if CALL == "coco_arrays":
        row = [(one["image_id"], *one["bbox"], one["score"], one["category_id"]) for one in found]
        rows = numpy.array(row, dtype="float64")
    if OURS:
        import metric_suite

        references, predictions = truth, found
        if CALL == "coco_arrays":
            objects = truth["annotations"]
            references = metric_suite.Boxes(
                image=numpy.array([one["image_id"] for one in objects]),
                category=numpy.array([one["category_id"] for one in objects]),
                box=numpy.array([one["bbox"] for one in objects], dtype="float64"),
                area=numpy.array([one["area"] for one in objects], dtype="float64"),
                crowd=numpy.array([one["iscrowd"] for one in objects]),
                id=numpy.array([one["id"] for one in objects]),
                images=numpy.array([image["id"] for image in truth["images"]]),
                categories={one["id"]: one["name"] for one in truth["categories"]},
            )
            predictions = metric_suite.Boxes(
                image=rows[:, 0].astype("int64"),
                category=rows[:, 6].astype("int64"),
                box=numpy.ascontiguousarray(rows[:, 1:5]),
                score=numpy.ascontiguousarray(rows[:, 5]),
            )

        def ours():
            result = metric_suite.coco(
                predictions=predictions, references=references, quirks="pycocotools", threads=THREADS
            )
            return {name: result[name] for name in COCO_NAMES}

        return ours
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    def peer():
        data = COCO()
        data.dataset = truth
        data.createIndex()
        evaluation = COCOeval(data, data.loadRes(rows if CALL == "coco_arrays" else found), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        return {name: None if value == -1 else value for name, value in zip(COCO_NAMES, evaluation.stats)}

    return peer


def top_k():
    import numpy

    truth = numpy.fromfile("r.i64", dtype="<i8")
    scores = numpy.fromfile("p.f32", dtype="<f4").reshape(len(truth), -1)
    if OURS:
        from metric_suite import accuracy_at_k

        call = lambda: accuracy_at_k(predictions=scores, references=truth, k=5, threads=THREADS)["accuracy@5"]
    else:
        from sklearn.metrics import top_k_accuracy_score

        call = lambda: top_k_accuracy_score(truth, scores, k=5, labels=numpy.arange(scores.shape[1]))
    return lambda: {"accuracy@5": call()}


def classification():
    import numpy

    truth, said = (numpy.array(lines(name), dtype="int64") for name in ("r.txt", "p.txt"))
    names = ["accuracy", "precision", "recall", "f1"]
    if OURS:
        import metric_suite

        def ours():
            result = metric_suite.classification(
                predictions=said, references=truth, zero_division="0", threads=THREADS
            )
            return {name: result[name] for name in names}

        return ours
    from sklearn.metrics import accuracy_score, precision_recall_fscore_support

    def peer():
        found = precision_recall_fscore_support(truth, said, average="macro", zero_division=0)
        return dict(zip(names, [accuracy_score(truth, said), *found[:3]]))

    return peer


def multilabel():
    import numpy

    truth, said = (numpy.fromfile(name, dtype="<i8").reshape(-1, 50) for name in ("r.i64", "p.i64"))
    if OURS:
        import metric_suite

        def ours():
            result = metric_suite.multilabel(
                predictions=said, references=truth, average="samples", zero_division="0", threads=THREADS
            )
            return {"f1": result["f1"]}

        return ours
    from sklearn.metrics import f1_score

    return lambda: {"f1": f1_score(truth, said, average="samples", zero_division=0)}


def numbers(metric, names, peer):
    import numpy

    truth, said = (numpy.fromfile(name, sep=" ") for name in ("r.txt", "p.txt"))
    if OURS:
        import metric_suite

        def ours():
            result = metric_suite.score(metric, predictions=said, references=truth, threads=THREADS)
            return {name: result[name] for name in names}

        return ours
    return lambda: dict(zip(names, peer(truth, said)))


def regression():
    def peer(truth, said):
        from scipy.stats import pearsonr
        from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

        errors = [function(truth, said) for function in (mean_absolute_error, mean_squared_error, r2_score)]
        return [*errors, pearsonr(said, truth).statistic]

    return numbers("regression", ["mae", "mse", "r2", "pearson"], peer)


def rank_correlation():
    def peer(truth, said):
        from scipy.stats import kendalltau, spearmanr

        return [spearmanr(said, truth).statistic, kendalltau(said, truth).statistic]

    return numbers("rank-correlation", ["spearman", "kendall"], peer)


def class_scores():
    import numpy

    truth = numpy.fromfile("r.i64", dtype="<i8")
    scores = numpy.fromfile("p.f32", dtype="<f4").astype("float64").reshape(len(truth), -1)
    # scikit-learn wants probabilities.
    scores /= scores.sum(axis=1, keepdims=True)
    way = CALL.removeprefix("roc_auc_")
    if OURS:
        import metric_suite

        def ours():
            result = metric_suite.classification_scores(
                predictions=scores, references=truth, multi_class=way, threads=THREADS
            )
            return {"roc_auc": result["roc_auc"]}

        return ours
    from sklearn.metrics import roc_auc_score

    return lambda: {"roc_auc": roc_auc_score(truth, scores, multi_class=way)}


def topics():
    """Six measures by the evaluator of pytrec_eval, from dicts."""
    judgments, run = {}, {}
    for line in lines("r.qrels"):
        topic, _, document, relevance = line.split()
        judgments.setdefault(topic, {})[document] = int(relevance)
    for line in lines("p.run"):
        topic, _, document, _, score, _ = line.split()
        run.setdefault(topic, {})[document] = float(score)
    package = drop_in("pytrec_eval")
    measures = {"ndcg", "ndcg_cut.10", "map", "recip_rank", "P.10", "recall.10"}
    names = ["ndcg", "ndcg_cut_10", "map", "recip_rank", "P_10", "recall_10"]

    def work():
        values = package.RelevanceEvaluator(judgments, measures).evaluate(run).values()
        return {name: sum(topic[name] for topic in values) / len(values) for name in names}

    return work


def exact_match():
    import pyarrow
    import pyarrow.compute

    references, predictions = (pyarrow.array(lines(name)) for name in ("r.txt", "p.txt"))
    if OURS:
        from metric_suite import exact_match

        return lambda: dict(exact_match(predictions=predictions, references=references, threads=THREADS))

    def peer():
        same = pyarrow.compute.equal(predictions, references)
        return {"exact_match": pyarrow.compute.mean(same).as_py()}

    return peer


CALLS = {
    "import": imported,
    "wer": wer,
    "wer_single": wer_single,
    "wer_single_score": wer_single_score,
    "codebleu": codebleu,
    "codebleu_single": codebleu,
    "coco_arrays": coco,
    "coco_dicts": coco,
    "top_k": top_k,
    "classification": classification,
    "multilabel": multilabel,
    "regression": regression,
    "rank_correlation": rank_correlation,
    "roc_auc_ovr": class_scores,
    "roc_auc_ovo": class_scores,
    "topics": topics,
    "exact_match": exact_match,
}

measure(CALLS[CALL]())
