"""``python -m metric_suite.compat.codebleu``: scores files with one program per line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from . import AVAILABLE_LANGS, calc_codebleu


def main(
    ref_files: Sequence[str], hyp_file: str, lang: str, weights: Sequence[float] = (0.25, 0.25, 0.25, 0.25)
) -> None:
    """Prints CodeBLEU and its components.

    Args:
        ref_files: Paths of files of references, one per line.
        hyp_file: The path of the file of hypotheses.
        lang: The language.
        weights: The weights of the four components.

    Raises:
        AssertionError: If the files differ in their number of lines.
    """
    hypotheses = _lines(hyp_file)
    columns = [_lines(path) for path in ref_files]
    for path, column in zip(ref_files, columns):
        assert len(column) == len(hypotheses), (
            f"{len(column)} lines in {path} and {len(hypotheses)} in {hyp_file}: expected as many of each"
        )
    scores = calc_codebleu([list(row) for row in zip(*columns)], hypotheses, lang, weights=weights)
    names = ("ngram_match", "weighted_ngram_match", "syntax_match", "dataflow_match")
    print(*(f"{name}: {scores[f'{name}_score']}" for name in names))
    print("CodeBLEU score: ", scores["codebleu"])


def _lines(path: str) -> list[str]:
    with open(path, encoding="utf-8") as file:
        return [line.strip() for line in file]


def _command() -> None:
    parser = argparse.ArgumentParser(prog="codebleu", description="Scores programs against references.")
    parser.add_argument("--refs", nargs="+", required=True, help="files of references, one per line")
    parser.add_argument("--hyp", required=True, help="file of hypotheses, one per line")
    parser.add_argument("--lang", required=True, choices=AVAILABLE_LANGS, help="language of the programs")
    parser.add_argument("--params", default="0.25,0.25,0.25,0.25", help="weights of the four components")
    chosen = parser.parse_args()
    weights = tuple(float(weight) for weight in chosen.params.split(","))
    main(chosen.refs, chosen.hyp, chosen.lang, weights)


if __name__ == "__main__":
    _command()
