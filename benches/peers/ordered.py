"""Import it before the package codebleu is called: gives its sets of names an order.

The package orders the names of a dataflow as a set of strings does, which differs from run to run
with the seed of Python's hashes, and so does its score. Here they are in the order in which they
first occur, so that there is one number to agree with.
"""

import codebleu.dataflow_match
import codebleu.parser.DFG


class Ordered(dict):
    def __init__(self, items=()):
        super().__init__(dict.fromkeys(items))

    def add(self, item):
        self[item] = None


codebleu.dataflow_match.set = Ordered
codebleu.parser.DFG.set = Ordered
