"""CodeBLEU of a corpus, in the language of the first argument.

The package orders the names of a dataflow as a set of strings does, which differs from run to run
with the seed of Python's hashes, and so does its score. Here they are in the order in which they
first stand, so that there is one number to agree with.
"""

import sys

import codebleu.dataflow_match
import codebleu.parser.DFG
from codebleu import calc_codebleu
from measure import measure, records


class Ordered(dict):
    def __init__(self, items=()):
        super().__init__(dict.fromkeys(items))

    def add(self, item):
        self[item] = None


codebleu.dataflow_match.set = Ordered
codebleu.parser.DFG.set = Ordered


def work():
    references = [[text] for text in records("r.jsonl", "reference")]
    predictions = records("p.jsonl", "prediction")
    score = calc_codebleu(references, predictions, sys.argv[1])
    return {name.removesuffix("_score"): value for name, value in score.items()}


measure(work)
