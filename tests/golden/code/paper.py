"""CodeBLEU as Ren et al. 2020 define it, for rows of the files next to this one: the profiles `paper` and `corrected`.

usage: python paper.py > paper.jsonl

Neither profile has a program. This is an independent implementation of their definitions. It uses the parsers of
tree-sitter and the removal of comments of codebleu 0.7.0 (benches/peers/requirements/codebleu.txt has the versions).

Each row has the id of the row that holds its texts. `ngram`, `weighted_ngram` (a precision in which keywords weigh
five times as much as other words), `syntax` (clipped counts) and `codebleu` are those of `paper`. `dataflow` repeats the
counts of codebleu 0.7.0, which are clipped as well, and those of python_c_style.jsonl where the comments differ.
`corrected_syntax` has the clipped counts of `corrected`, for rows with one reference: a subtree is the kind of a node
with its fields and children, including operators, without brackets, separators and comments. The dataflow match of
`corrected` is not here: it has rules of its own.
"""
import json
import math
import sys
from collections import Counter
from pathlib import Path

from codebleu.parser import remove_comments_and_docstrings
from codebleu.utils import get_tree_sitter_language
from tree_sitter import Parser

HERE = Path(__file__).parent
LANGUAGES = ["java", "c_sharp", "python"]
NOT_ORIGINAL = {"python": {"match", "case", "type"}}
COMMENTS = {"comment", "line_comment", "block_comment"}
PUNCTUATION = set("()[]{},;:")


def rows(name):
    lines = (HERE / name).read_text().splitlines()
    return [row for row in map(json.loads, lines) if "_about" not in row]


def grams(tokens, n):
    return Counter(tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1))


def bleu(prediction, references, weight):
    """Corpus BLEU of one pair: orders 1 to 4 that have n-grams, the closest reference, 0.1 for an order without a match."""
    logs = []
    for n in range(1, 5):
        counts = grams(prediction, n)
        most = Counter()
        for reference in references:
            most |= grams(reference, n)
        weigh = weight if n == 1 else lambda gram: 1
        matched = sum(weigh(gram) * min(count, most[gram]) for gram, count in counts.items())
        total = sum(weigh(gram) * count for gram, count in counts.items())
        if n == 1 and matched == 0:
            return 0.0
        if total > 0:
            logs.append(math.log((matched or 0.1) / total))
    length = len(prediction)
    closest = min((abs(len(reference) - length), len(reference)) for reference in references)[1]
    penalty = 1.0 if length > closest else math.exp(1 - closest / length)
    return penalty * math.exp(math.fsum(log / len(logs) for log in logs))


def without_comments(text):
    try:
        # The rule of C-style comments, in every language.
        return remove_comments_and_docstrings(text, "java")
    except Exception:
        return text


def root(parser, text):
    return parser.parse(text.encode()).root_node


def nodes(node):
    """The nodes with children, and the root."""
    found, left = [], [node]
    while left:
        node = left.pop()
        found.append(node)
        left += [child for child in node.children if child.children]
    return found


def strings(node):
    return Counter(str(node) for node in nodes(node))


def shapes(root):
    found = Counter()

    def describe(node):
        parts, children = [], 0
        for place, child in enumerate(node.children):
            if child.type in COMMENTS:
                continue
            children += 1
            below = describe(child)
            if child.is_named or child.children or child.type not in PUNCTUATION:
                parts.append((node.field_name_for_child(place), below))
        shape = (node.type, node.is_named, tuple(parts))
        if children or node == root:
            found[shape] += 1
        return shape

    describe(root)
    return found


def clipped(found, wanted):
    return [sum((found & wanted).values()), sum(wanted.values())]


def score(row, language, parser, keywords, dataflow):
    prediction, references = row["prediction"], row["references"]
    words, others = prediction.split(), [reference.split() for reference in references]
    result = {
        "id": row["id"],
        "ngram": bleu(words, others, lambda gram: 1),
        "weighted_ngram": bleu(words, others, lambda gram: 5 if gram[0] in keywords else 1),
        "dataflow": dataflow,
    }
    tree = strings(root(parser, without_comments(prediction.strip())))
    counts = [clipped(tree, strings(root(parser, without_comments(text.strip())))) for text in references]
    result["syntax"] = [sum(count) for count in zip(*counts)]
    components = [result["ngram"], result["weighted_ngram"]]
    components += [match / total if total else None for match, total in [result["syntax"], dataflow]]
    result["codebleu"] = None if None in components else math.fsum(components) / 4
    # Without any words, these are undefined in `corrected`.
    for name in ["ngram", "weighted_ngram"]:
        result[f"corrected_{name}"] = result[name] if words or any(others) else None
    if len(references) == 1:
        result["corrected_syntax"] = clipped(*(shapes(root(parser, text)) for text in [prediction, references[0]]))
    return result


def main():
    sys.setrecursionlimit(100_000)
    lists = json.loads((HERE / "keywords.json").read_text())
    c_style = {row["id"]: row["dataflow"] for row in rows("python_c_style.jsonl")}
    source = (
        "the rows of java, c_sharp and python in this folder; results of an independent implementation in plain Python of "
        "the definitions of Ren et al. 2020 and of the profile `corrected`, by paper.py next to this file; dataflow by "
        "codebleu 0.7.0"
    )
    print(json.dumps({"_about": {"source": source, "licence": "MIT OR Apache-2.0 (results)"}}))
    for language in LANGUAGES:
        parser = Parser(get_tree_sitter_language(language))
        keywords = set(lists[language]) - NOT_ORIGINAL.get(language, set())
        for row in rows(f"{language}_pkg.jsonl") + rows(f"{language}_edge.jsonl"):
            counts = row["results"]["codebleu070_g26"].get("counts")
            if not row["references"] or counts is None:
                continue
            dataflow = c_style.get(row["id"], counts["dataflow_ordered"])
            print(json.dumps(score(row, language, parser, keywords, dataflow)))


main()
