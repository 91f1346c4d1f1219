"""ARC by its published rules, in Python and numpy: cells of pairs, or submissions in Kaggle's files.

The programs of the contests are not packages; their rules are a few lines.
"""

import json
import sys

import numpy
from measure import measure, records


def cells():
    """Equal cells over the cells of the box that holds both grids, and the mean of it."""
    shares, exact = [], 0
    pairs = zip(records("r.jsonl", "reference"), records("p.jsonl", "prediction"))
    for truth, said in pairs:
        truth, said = numpy.array(truth), numpy.array(said)
        rows, columns = numpy.minimum(truth.shape, said.shape)
        equal = (truth[:rows, :columns] == said[:rows, :columns]).sum()
        shares.append(equal / numpy.maximum(truth.shape, said.shape).prod())
        exact += shares[-1] == 1
    return {"cell_accuracy": numpy.mean(shares), "exact": exact / len(shares)}


def submission():
    with open("r.json") as solutions, open("p.json") as attempts:
        solutions, attempts = json.load(solutions), json.load(attempts)
    hits, outputs, tasks = 0, 0, 0
    for task, truths in solutions.items():
        solved = [truth in said.values() for truth, said in zip(truths, attempts[task])]
        hits += sum(solved)
        outputs += len(truths)
        tasks += sum(solved) / len(truths)
    return {"kaggle": hits / outputs, "arcprize": tasks / len(solutions)}


measure({"cells": cells, "submission": submission}[sys.argv[1]])
