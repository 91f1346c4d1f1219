"""Random labels with the results of scikit-learn 1.9.1: python scikit_learn.py SEED ROWS.

Made classification.jsonl and mrr.jsonl beside this file. Among the labels are those of one class
only, predictions that never are true, classes that are never predicted, and nothing right; among
the scores many are equal.
"""
import json
import math
import random
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn import metrics

warnings.simplefilter("ignore")
rng = random.Random(int(sys.argv[1]))
rows = int(sys.argv[2])
here = Path(__file__).parent
command = f"tests/golden/class/scikit_learn.py {sys.argv[1]} {rows}"


def number(value):
    return None if math.isnan(value) else float(value)


def numbers(values):
    return [number(value) for value in values]


def labels():
    size = rng.choice([1, 2, 3, 7, 20, 60])
    classes = rng.sample(range(-3, 12), rng.choice([1, 2, 3, 6]))
    kind = rng.choice(["any", "any", "right", "wrong", "other", "one truth", "one prediction"])
    truth = [rng.choice(classes) for _ in range(size)]
    found = [rng.choice(classes) for _ in range(size)]
    if kind == "right":
        found = [t if rng.random() < 0.8 else f for t, f in zip(truth, found)]
    elif kind == "wrong":
        found = [f + 20 if f == t else f for t, f in zip(truth, found)]
    elif kind == "other":
        found = [f + 20 for f in found]
    elif kind == "one truth":
        truth = [truth[0]] * size
    elif kind == "one prediction":
        found = [found[0]] * size
    return truth, found


def classification(place):
    truth, found = labels()
    row = {"id": f"classes{place:03}", "references": truth, "predictions": found}
    row["accuracy"] = metrics.accuracy_score(truth, found)
    row["averages"] = []
    for average in ["micro", "macro", "weighted"]:
        for name, value in [("0", 0), ("1", 1), ("undefined", np.nan)]:
            scores = metrics.precision_recall_fscore_support(
                truth, found, average=average, zero_division=value
            )
            row["averages"].append([average, name, *numbers(scores[:3])])
    row["classes"] = sorted({*truth, *found})
    scores = metrics.precision_recall_fscore_support(truth, found, zero_division=np.nan)
    row["of_classes"] = [
        [*numbers(three), int(support)] for *three, support in zip(*scores)
    ]
    row["matrix"] = metrics.confusion_matrix(truth, found).tolist()
    row["balanced_accuracy"] = number(metrics.balanced_accuracy_score(truth, found))
    row["cohen_kappa"] = number(metrics.cohen_kappa_score(truth, found))
    row["matthews_corrcoef"] = number(metrics.matthews_corrcoef(truth, found))
    return row


def mrr(place):
    size, classes = rng.choice([1, 2, 5, 20]), rng.choice([2, 3, 10])
    levels = rng.choice([2, 4, 1000])
    scores = [[rng.randrange(levels) / levels for _ in range(classes)] for _ in range(size)]
    truth = [rng.randrange(classes) for _ in range(size)]
    # With one relevant label an example, its precision is the reciprocal of the rank of that label,
    # which all labels of the same score come before.
    mean = metrics.label_ranking_average_precision_score(np.eye(classes)[truth], scores)
    return {"id": f"ranks{place:03}", "references": truth, "scores": scores, "mrr": float(mean)}


def write(name, what, made):
    about = {"source": f"seeded random {what}, made by {command}; results by scikit-learn 1.9.1", "licence": "MIT OR Apache-2.0"}
    lines = [{"_about": about}, *made]
    (here / name).write_text("".join(json.dumps(line) + "\n" for line in lines))


write("classification.jsonl", "labels", [classification(place) for place in range(rows)])
write("mrr.jsonl", "scores of classes", [mrr(place) for place in range(rows)])
