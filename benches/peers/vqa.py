"""VQA v2 by its published rules, in Python; its program, which is not a package, works the same way.

The first argument is the file of its tables.
"""

import json
import re
import sys

from measure import measure

with open(sys.argv[1], encoding="utf-8") as tables:
    TABLES = json.load(tables)
CONTRACTIONS = TABLES["contractions"]
NUMBERS = {"none": "0", "zero": "0"} | {
    word: str(number)
    for number, word in enumerate(
        "one two three four five six seven eight nine ten".split(), start=1
    )
}
COMMA = re.compile(r"\d,\d")
PERIOD = re.compile(r"\.(?!\d)")


def normalise(text):
    out = text
    for mark in ';/[]"{}()=+\\_-><@`,?!':
        if mark + " " in text or " " + mark in text or COMMA.search(text):
            out = out.replace(mark, "")
        else:
            out = out.replace(mark, " ")
    out = PERIOD.sub("", out, count=32)
    words = (NUMBERS.get(word, word) for word in out.lower().split())
    words = (word for word in words if word not in ("a", "an", "the"))
    return " ".join(CONTRACTIONS.get(word, word) for word in words)


def plain(text):
    return text.replace("\n", " ").replace("\t", " ").strip()


def work():
    with open("r.json", encoding="utf-8") as truths, open("p.json", encoding="utf-8") as said:
        annotations = json.load(truths)["annotations"]
        said = {row["question_id"]: row["answer"] for row in json.load(said)}
    total = 0.0
    for question in annotations:
        answers = [plain(row["answer"]) for row in question["answers"]]
        prediction = plain(said[question["question_id"]])
        if len(set(answers)) > 1:
            answers = [normalise(answer) for answer in answers]
            prediction = normalise(prediction)
        shares = []
        for place in range(len(answers)):
            others = answers[:place] + answers[place + 1 :]
            shares.append(min(1, others.count(prediction) / 3))
        total += sum(shares) / len(shares)
    return {"accuracy": total / len(annotations)}


measure(work)
