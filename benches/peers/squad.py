"""SQuAD v1.1 by its published rules, in Python.

The metric of `evaluate` is not in its wheel, and the contest's program is not a package.
"""

import collections
import json
import re
import string

from measure import measure

PUNCTUATION = set(string.punctuation)
ARTICLES = re.compile(r"\b(a|an|the)\b")


def words(text):
    kept = "".join(letter for letter in text.lower() if letter not in PUNCTUATION)
    return ARTICLES.sub(" ", kept).split()


def f1(said, truth):
    said, truth = words(said), words(truth)
    same = sum((collections.Counter(said) & collections.Counter(truth)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(said), same / len(truth)
    return 2 * precision * recall / (precision + recall)


def work():
    with open("r.json", encoding="utf-8") as truths, open("p.json", encoding="utf-8") as said:
        data, said = json.load(truths)["data"], json.load(said)
    exact, overlap, total = 0, 0.0, 0
    for article in data:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                total += 1
                answer = said[question["id"]]
                truths = [truth["text"] for truth in question["answers"]]
                exact += max(words(answer) == words(truth) for truth in truths)
                overlap += max(f1(answer, truth) for truth in truths)
    return {"exact_match": exact / total, "f1": overlap / total}


measure(work)
