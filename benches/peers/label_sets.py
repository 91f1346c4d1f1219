"""Macro F1 and Hamming loss of rows of 0 and 1 by scikit-learn, from records of lists of labels."""

import json

from measure import measure
from sklearn.metrics import f1_score, hamming_loss
from sklearn.preprocessing import MultiLabelBinarizer


def work():
    sides = []
    for name, key in [("r.jsonl", "reference"), ("p.jsonl", "prediction")]:
        with open(name, encoding="utf-8") as file:
            sides.append([json.loads(line)[key] for line in file])
    binarizer = MultiLabelBinarizer().fit(sides[0] + sides[1])
    truth, said = map(binarizer.transform, sides)
    return {"f1": f1_score(truth, said, average="macro", zero_division=0), "hamming_loss": hamming_loss(truth, said)}


measure(work)
