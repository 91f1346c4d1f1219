"""The command ``jiwer``: scores two files with one sentence per line."""

from __future__ import annotations

import argparse
import pathlib

from .. import jiwer


def cli(arguments: list[str] | None = None) -> None:
    """Prints the error rate of two files.

    Raises:
        ValueError: If the files differ in their number of sentences and ``--global`` is not given.
    """
    # `-h` is the hypothesis.
    parser = argparse.ArgumentParser(
        prog="jiwer", description="Scores transcripts against references.", add_help=False
    )
    parser.add_argument("--help", action="help", help="show this help and exit")
    parser.add_argument("-r", "--reference", type=pathlib.Path, required=True, help="references, one per line")
    parser.add_argument("-h", "--hypothesis", type=pathlib.Path, required=True, help="hypotheses, one per line")
    parser.add_argument("-c", "--cer", action="store_true", help="print the character error rate")
    parser.add_argument("-a", "--align", action="store_true", help="print the alignment of each sentence")
    parser.add_argument("-g", "--global", action="store_true", dest="joined", help="join all lines and align them")
    chosen = parser.parse_args(arguments)

    references, hypotheses = _sentences(chosen.reference), _sentences(chosen.hypothesis)
    if not chosen.joined and len(references) != len(hypotheses):
        raise ValueError(
            f"{len(references)} sentences in {chosen.reference} and {len(hypotheses)} in {chosen.hypothesis}: "
            "expected as many of each (use --global to align all lines at once)"
        )
    process = jiwer.process_characters if chosen.cer else jiwer.process_words
    transforms = {}
    if chosen.joined:
        transform = jiwer.cer_contiguous if chosen.cer else jiwer.wer_contiguous
        transforms = {"reference_transform": transform, "hypothesis_transform": transform}
    output = process(references, hypotheses, **transforms)
    if chosen.align:
        print(jiwer.visualize_alignment(output, show_measures=True), end="")
    else:
        print(output.cer if isinstance(output, jiwer.CharacterOutput) else output.wer)


def _sentences(path: pathlib.Path) -> list[str]:
    """Returns the lines of a file that have more than one character, as jiwer reads them."""
    with path.open() as file:
        lines = [line.strip() for line in file]
    return [line for line in lines if len(line) > 1]


if __name__ == "__main__":
    cli()
