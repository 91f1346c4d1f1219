"""Checks the results in fusion_brain_datasets.jsonl that no program computes.

usage: python fusion_brain_rules.py

`text` is the rule in the description of the Fusion Brain Challenge 2021: a prediction is correct if its IoU with a
ground-truth box is above 0.5, and incorrect if its IoU with each of them is below 0.5. `one_to_one_optimal` is the greatest
number of pairs with an IoU of at least 0.5 in which each box occurs once. This is an independent implementation in plain
Python, with rational numbers.
"""
import json
from fractions import Fraction
from pathlib import Path


def area(box):
    return max(0, box[2]) * max(0, box[3])


def iou(a, b):
    a, b = ([Fraction(number) for number in box] for box in (a, b))
    width, height = (min(a[i] + a[i + 2], b[i] + b[i + 2]) - max(a[i], b[i]) for i in (0, 1))
    shared = max(0, width) * max(0, height)
    union = area(a) + area(b) - shared
    return shared / union if union else Fraction(0)


def queries(row):
    for image, classes in row["true"].items():
        for name, boxes in classes.items():
            yield [box for box in row["pred"][image][name] if box], [box for box in boxes if box]


def text(predictions, truths):
    best = [max((iou(prediction, truth) for truth in truths), default=Fraction(0)) for prediction in predictions]
    counts = [sum(value > 0.5 for value in best), sum(value < 0.5 for value in best)]
    return [*counts, max(0, len(truths) - len(predictions))]


def one_to_one(predictions, truths):
    """By augmenting paths: each prediction takes a true box, if the one that has it can take another."""
    owner = {}

    def place(prediction, seen):
        for index, truth in enumerate(truths):
            if index in seen or iou(predictions[prediction], truth) < Fraction(1, 2):
                continue
            seen.add(index)
            if index not in owner or place(owner[index], seen):
                owner[index] = prediction
                return True
        return False

    pairs = sum(place(prediction, set()) for prediction in range(len(predictions)))
    return [pairs, len(predictions) - pairs, len(truths) - pairs]


def main():
    lines = (Path(__file__).parent / "fusion_brain_datasets.jsonl").read_text().splitlines()
    checked = 0
    for row in map(json.loads, lines):
        if "_about" in row or "error" in row["head"]:
            continue
        for name, rule in [("text", text), ("one_to_one_optimal", one_to_one)]:
            counts = [sum(numbers) for numbers in zip([0, 0, 0], *(rule(*query) for query in queries(row)))]
            expected = [row[name][count] for count in ("tp", "fp", "fn")]
            assert counts == expected, (row["id"], name, counts, expected)
        checked += 1
    print(f"{checked} rows agree")


main()
