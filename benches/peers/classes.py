"""Accuracy, and macro precision, recall and F1 by scikit-learn."""

from measure import lines, measure
from sklearn.metrics import accuracy_score, precision_recall_fscore_support


def work():
    truth, said = (list(map(int, lines(name))) for name in ["r.txt", "p.txt"])
    precision, recall, f1, _ = precision_recall_fscore_support(
        truth, said, average="macro", zero_division=0
    )
    return {
        "accuracy": accuracy_score(truth, said),
        "precision": precision,
        "recall": recall,
        "f1": f1,
    }


measure(work)
