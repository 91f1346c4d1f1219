"""`metric_suite.compat.jiwer`: rows by hand, and the same as jiwer where it is installed."""

import dataclasses
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metric_suite.compat import jiwer as ours


@pytest.mark.parametrize(
    ("reference", "hypothesis", "wer", "mer", "wip"),
    [
        ("the black cat sat", "the cat sat there", 2 / 4, 2 / 5, 3 / 4 * (3 / 4)),
        (["a b", "c"], ["a b", "d"], 1 / 3, 1 / 3, 2 / 3 * (2 / 3)),
        ("", "", 0, 0, 1),
        ("", "a b", 2, 1, 0),
        ("a b", "", 1.0, 1.0, 0),
        ([], [], 0, 0, 1),
    ],
)
def test_measures(reference, hypothesis, wer, mer, wip):
    assert ours.wer(reference, hypothesis) == wer
    assert ours.mer(reference, hypothesis) == mer
    assert ours.wip(reference, hypothesis) == wip
    assert ours.wil(reference, hypothesis) == 1 - wip
    output = ours.process_words(reference, hypothesis)
    assert (output.wer, output.mer, output.wip, output.wil) == (wer, mer, wip, 1 - wip)


def test_alignment():
    output = ours.process_words("the black cat sat", "the cat sat there")
    assert output.alignments == [
        [
            ours.AlignmentChunk("equal", 0, 1, 0, 1),
            ours.AlignmentChunk("delete", 1, 2, 1, 1),
            ours.AlignmentChunk("equal", 2, 4, 1, 3),
            ours.AlignmentChunk("insert", 4, 4, 3, 4),
        ]
    ]
    assert (output.hits, output.substitutions, output.deletions, output.insertions) == (3, 0, 1, 1)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="expected a string"):
        ours.wer(None, "a")
    with pytest.raises(ValueError, match="1 references and 2 hypotheses"):
        ours.wer("a", ["a", "b"])
    with pytest.raises(ValueError, match="reference transform"):
        ours.wer("a", "a", ours.Strip(), ours.wer_default)
    with pytest.raises(ValueError, match="unknown type"):
        ours.AlignmentChunk("swap", 0, 1, 0, 1)
    with pytest.raises(ValueError, match="hyp_start_idx=2"):
        ours.AlignmentChunk("equal", 0, 1, 2, 1)


def test_transforms_of_users_apply():
    class NoVowels(ours.AbstractTransform):
        def process_string(self, s):
            return "".join(letter for letter in s if letter not in "aeiou")

    chain = ours.Compose([NoVowels(), lambda texts: [text.upper() for text in texts], ours.ReduceToListOfListOfChars()])
    assert ours.cer("tea", ["to"], chain, chain) == 0.0
    # A default chain that was changed is not the engine's.
    steps = ours.wer_default.transforms
    ours.wer_default.transforms = [ours.ToLowerCase(), *steps]
    try:
        assert ours.wer("A b", "a B") == 0.0
    finally:
        ours.wer_default.transforms = steps
    assert ours.wer("A b", "a B") == 1.0


def test_half_surrogates_are_units_like_any_other():
    assert ours.wer("\ud800 a", "\ud800 b") == 0.5
    assert ours.cer("\ud800a", "\ud801a") == 0.5


TEXTS = st.text("ab'.,*A \t\n\x1c\x85\u00a0\u3000é\u0301[<>]", max_size=24)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), max_size=5)
CHAINS = ["wer_default", "wer_contiguous", "wer_standardize", "wer_standardize_contiguous", "cer_default", "cer_contiguous"]


@settings(deadline=None)
@given(PAIRS, st.sampled_from(CHAINS), st.none() | st.integers(6, 40), st.booleans())
def test_the_same_as_jiwer(pairs, chain, line_width, skip_correct):
    theirs = pytest.importorskip("jiwer")
    references, hypotheses = [list(side) for side in zip(*pairs)] or [[], []]

    def everything(package):
        transform = getattr(package, chain)
        process = package.process_words if chain.startswith("wer") else package.process_characters
        try:
            output = process(references, hypotheses, transform, transform)
            functions = ("wer", "mer", "wil", "wip", "cer")
            measures = [getattr(package, name)(references, hypotheses, transform, transform) for name in functions]
        except ValueError:
            return ValueError
        counts = [list(errors.items()) for errors in package.collect_error_counts(output)]
        alignment = package.visualize_alignment(output, skip_correct=skip_correct, line_width=line_width)
        bare = package.visualize_alignment(output, show_measures=False)
        top = package.visualize_error_counts(output, top_k=1)
        errors = package.visualize_error_counts(output, show_insertions=skip_correct)
        values = measures + [*counts, alignment, bare, top, errors]
        return dataclasses.asdict(output), values, [type(value) for value in values]

    assert everything(ours) == everything(theirs)


STEPS = [
    ("ExpandCommonEnglishContractions", ()),
    ("RemoveEmptyStrings", ()),
    ("ReduceToListOfListOfWords", (",",)),
    ("ReduceToListOfListOfChars", ()),
    ("ReduceToSingleSentence", ("-",)),
    ("RemoveKaldiNonWords", ()),
    ("RemoveMultipleSpaces", ()),
    ("RemovePunctuation", ()),
    ("RemoveSpecificWords", (["a", "."],)),
    ("RemoveWhiteSpace", (True,)),
    ("RemoveWhiteSpace", ()),
    ("Strip", ()),
    ("SubstituteRegexes", ({r"(a+)b": r"\1c"},)),
    ("SubstituteWords", ({"a": "b", "b": r"\g<0>"},)),
    ("ToLowerCase", ()),
    ("ToUpperCase", ()),
]


@settings(deadline=None)
@given(TEXTS | st.lists(TEXTS, max_size=4), st.sampled_from(STEPS))
def test_steps_are_the_same_as_those_of_jiwer(sentences, step):
    theirs = pytest.importorskip("jiwer")
    name, arguments = step
    assert getattr(ours, name)(*arguments)(sentences) == getattr(theirs, name)(*arguments)(sentences)


@pytest.mark.parametrize(
    ("step", "sentences"),
    [
        (("RemovePunctuation",), [None]),
        (("RemovePunctuation",), [b"a."]),
        (("RemovePunctuation",), [["a", "."]]),
        (("RemovePunctuation",), type("Text", (str,), {})("a.")),
        (("ExpandCommonEnglishContractions",), [1]),
        (("ReduceToSingleSentence", None), ["a", "b"]),
    ],
)
def test_steps_of_what_is_no_string(step, sentences):
    theirs = pytest.importorskip("jiwer")

    def outcome(package):
        name, *arguments = step
        try:
            found = getattr(package, name)(*arguments)(sentences)
        except Exception as error:
            return type(error)
        return found, type(found)

    assert outcome(ours) == outcome(theirs)


def test_a_negative_number_of_errors_shows_none():
    output = ours.process_words("a b c d", "x b y d")
    assert ours.visualize_error_counts(output, top_k=1) == (
        "=== SUBSTITUTIONS ===\na --> x = 1x\n\n=== INSERTIONS ===\nnone\n=== DELETIONS ===\nnone"
    )
    assert ours.visualize_error_counts(output, top_k=-1) == (
        "=== SUBSTITUTIONS ===\n\n=== INSERTIONS ===\nnone\n=== DELETIONS ===\nnone"
    )


def test_public_names_are_those_of_jiwer():
    theirs = pytest.importorskip("jiwer")
    modules = ("transforms", "transformations", "process", "measures", "alignment")
    for module in modules:
        __import__(f"jiwer.{module}")
        __import__(f"metric_suite.compat.jiwer.{module}")
        names = getattr(theirs, module).__all__
        assert sorted(getattr(ours, module).__all__) == sorted(names)
        assert all(hasattr(ours, name) for name in names)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "0.25\n"),
        (["-c"], f"{6 / 16}\n"),
        (["-g"], "0.25\n"),
        (["-c", "-g"], f"{6 / 17}\n"),
    ],
)
def test_command(tmp_path, arguments, expected):
    (tmp_path / "r.txt").write_text("the black cat\n\nsat\n")
    (tmp_path / "h.txt").write_text("the cat\nsat\n")
    command = [sys.executable, "-m", "metric_suite.compat.jiwer", "-r", "r.txt", "-h", "h.txt", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == expected


def test_command_shows_alignments(tmp_path):
    (tmp_path / "r.txt").write_text("the black cat\n")
    command = [sys.executable, "-m", "metric_suite.compat.jiwer", "-r", "r.txt", "-h", "r.txt", "-a"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("=== SUMMARY ===\nnumber of sentences: 1\n")
