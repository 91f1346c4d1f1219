"""Writes tables.rs: the characters of each class of `re`, with the Python that runs this (CPython 3.11, Unicode 14.0).

    python3.11 tables.py > tables.rs
"""

import _sre
import sys
import unicodedata
from re._casefix import _EXTRA_CASES as EXTRA

assert sys.version_info[:2] == (3, 11) and unicodedata.unidata_version == "14.0.0"

CHARS = [chr(code) for code in range(sys.maxunicode + 1)]


def ranges(holds):
    found = []
    for code, char in enumerate(CHARS):
        if holds(char):
            if found and found[-1][1] == code - 1:
                found[-1][1] = code
            else:
                found.append([code, code])
    return found


def lower_runs():
    """Runs of characters whose lower case is at the same distance: first, last, step, distance."""
    runs = []
    for code in range(sys.maxunicode + 1):
        distance = _sre.unicode_tolower(code) - code
        if distance == 0:
            continue
        if runs and runs[-1][3] == distance:
            first, last, step, _ = runs[-1]
            gap = code - last
            if gap <= 2 and (first == last or gap == step):
                runs[-1][1:3] = [code, gap]
                continue
        runs.append([code, code, 1, distance])
    return runs


def write(name, doc, kind, rows):
    print(f"\n/// {doc}\n#[rustfmt::skip]\npub(super) const {name}: &[{kind}] = &[")
    line = "   "
    for row in rows:
        if len(line) + len(row) > 110:
            print(line)
            line = "   "
        line += f" {row},"
    print(f"{line}\n];")


def pairs(found):
    return [f"({first:#x}, {last:#x})" for first, last in found]


print("//! Made by tables.py with CPython 3.11 (Unicode 14.0): ranges of characters, both ends included.")
write("WORD", r"What `\w` matches.", "(u32, u32)", pairs(ranges(lambda char: char.isalnum() or char == "_")))
write("DIGIT", r"What `\d` matches.", "(u32, u32)", pairs(ranges(str.isdecimal)))
write("SPACE", r"What `\s` matches.", "(u32, u32)", pairs(ranges(str.isspace)))
rows = [f"({first:#x}, {last:#x}, {step}, {distance})" for first, last, step, distance in lower_runs()]
write("LOWER", "Runs of characters with a lower case: first, last, step, distance of the lower case.", "(u32, u32, u32, i32)", rows)
rows = [f"({code:#x}, &[{', '.join(f'{other:#x}' for other in others)}])" for code, others in sorted(EXTRA.items())]
write("SAME_UPPER", "Lowercase characters with others that have the same upper case.", "(u32, &[u32])", rows)
