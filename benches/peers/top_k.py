"""accuracy@5 from scores (scikit-learn), or from ranked labels (numpy), of arrays in memory."""

import sys

import numpy
from measure import measure

truth = numpy.fromfile("r.i64", dtype="<i8")


def scores():
    from sklearn.metrics import top_k_accuracy_score

    scores = numpy.fromfile("p.f32", dtype="<f4").reshape(len(truth), -1)
    labels = numpy.arange(scores.shape[1])
    return lambda: top_k_accuracy_score(truth, scores, k=5, labels=labels)


def labels():
    ranked = numpy.fromfile("p.i64", dtype="<i8").reshape(len(truth), -1)
    return lambda: (ranked == truth[:, None]).any(axis=1).mean()


call = {"scores": scores, "labels": labels}[sys.argv[1]]()
measure(lambda: {"accuracy@5": call()})
