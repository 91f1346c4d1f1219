"""The command ``sacrebleu``: scores files with one segment per line."""

from __future__ import annotations

import argparse
import gzip
import io
import logging
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from .metrics import METRICS
from .metrics.base import VERSION, Metric, Score, logger
from .metrics.bleu import BLEU
from .metrics.chrf import CHRF

# What the command of sacreBLEU has and this one has not, with what to do instead.
_NOT_OFFERED = [
    (("--test-set", "-t"), "pass the references of the test set as files"),
    (("--list", "--echo", "--download"), "get test sets with the original program"),
    (("--citation", "--cite"), "cite Post, *A call for clarity in reporting BLEU scores* (WMT 2018)"),
    (("--origlang", "-ol", "--subset", "--detail", "-d"), "pass files with the segments of the subset"),
    (("--paired-bs", "-pbs", "--paired-ar", "-par"), "use `metric compare`"),
    (("--paired-bs-n", "-pbsn", "--paired-ar-n", "-parn", "--paired-jobs", "-j"), "use `metric compare`"),
]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the scores of a file.

    Raises:
        SystemExit: With the status 1 if files cannot be read or do not fit together, 2 if the options are wrong, or 17
            if lines have different numbers of fields.
    """
    chosen = _parser().parse_args(arguments)
    if os.environ.get("SACREBLEU_FORMAT") in ("json", "text"):
        # It wins over the option, as in sacreBLEU.
        chosen.format = os.environ["SACREBLEU_FORMAT"]
    logging.basicConfig(level=logging.ERROR if chosen.quiet else logging.INFO, format="sacreBLEU: %(message)s")
    try:
        _run(chosen)
    except (ImportError, LookupError, OSError, RuntimeError, ValueError) as error:
        _fail(1, str(error))


def _run(chosen: argparse.Namespace) -> None:
    if not chosen.refs:
        _fail(1, "no references: give their files before -i")
    if len(chosen.refs) > 1 and chosen.num_refs != 1:
        _fail(1, "--num-refs goes with a single file of references")
    names = sorted({name.upper() for name in chosen.metrics})
    if chosen.sentence_level and len(names) > 1:
        _fail(1, "--sentence-level goes with a single metric")
    if chosen.input is not None and len(chosen.input) != 1:
        _fail(1, f"{len(chosen.input)} systems: expected one. `metric compare` compares two")

    metrics = [_metric(name, chosen) for name in names]
    references: list[list[str]] = []
    for path in chosen.refs:
        references += _references(_lines(path, chosen.encoding), chosen.num_refs)
    hypotheses = _lines(chosen.input[0], chosen.encoding) if chosen.input else _standard_input(chosen.encoding)
    if any(len(stream) != len(hypotheses) for stream in references):
        # The words of sacreBLEU, which scripts look for.
        _fail(1, "System and reference streams have different lengths.")
    if not hypotheses:
        _fail(1, "no segments to score")

    if chosen.sentence_level:
        (metric,) = metrics
        for stats in metric._extract_corpus_statistics(hypotheses, references):
            print(_text(metric, metric._compute_score_from_stats(stats), chosen))
        return
    samples = chosen.confidence_n if chosen.confidence else 1
    scores = [metric.corpus_score(hypotheses, references, samples) for metric in metrics]
    if chosen.format == "json" and not chosen.score_only:
        texts = [_text(metric, score, chosen, is_json=True) for metric, score in zip(metrics, scores)]
    else:
        texts = [_text(metric, score, chosen) for metric, score in zip(metrics, scores)]
        # The signs of equality are below each other.
        widest = max(text.find("=") for text in texts)
        texts = [" " * (widest - text.find("=")) + text for text in texts]
    is_list = chosen.format == "json" and len(texts) > 1
    print("[\n" + ",\n".join(texts) + "\n]" if is_list else "\n".join(texts))


def _text(metric: Metric[Any], score: Score, chosen: argparse.Namespace, is_json: bool = False) -> str:
    signature = metric.get_signature().format(chosen.short)
    return score.format(chosen.width, chosen.score_only, signature, is_json)


def _metric(name: str, chosen: argparse.Namespace) -> Metric[Any]:
    prefix = f"{name.lower()}_"
    options = {key.removeprefix(prefix): value for key, value in vars(chosen).items() if key.startswith(prefix)}
    if name == "BLEU":
        options["trg_lang"] = chosen.language_pair.partition("-")[2]
        # The scores of sentences always leave out orders without n-grams.
        options["effective_order"] = chosen.sentence_level
    metric: Metric[Any] = METRICS[name](**options)
    return metric


def _lines(path: str, encoding: str) -> list[str]:
    """Returns the lines of a file, which end at line feeds only."""
    opened: Any = gzip.open if path.endswith(".gz") else open
    try:
        with opened(path, "rt", encoding=encoding, newline="\n") as file:
            return [line.rstrip() for line in file]
    except UnicodeError as error:
        _fail(1, f"{path}: {error}")


def _standard_input(encoding: str) -> list[str]:
    """Returns the lines of standard input. Carriage returns end lines as well, and tabs separate systems."""
    file = io.TextIOWrapper(sys.stdin.buffer, encoding=encoding)
    rows = [line.rstrip().split("\t") for line in file]
    if len({len(row) for row in rows}) > 1:
        _fail(17, "FATAL: the number of tab-delimited fields in the input stream differ across lines.")
    if rows and len(rows[0]) > 1:
        _fail(1, f"{len(rows[0])} systems, separated by tabs: expected one. `metric compare` compares two")
    return [row[0] for row in rows]


def _references(lines: Iterable[str], count: int) -> list[list[str]]:
    """Returns the reference sets of a file with this many references per line."""
    rows = [line.split("\t", count - 1) if count > 1 else [line] for line in lines]
    for number, row in enumerate(rows, 1):
        if len(row) != count:
            _fail(17, f"FATAL: line {number}: expected {count} fields, but found {len(row)}.")
    return [[row[index] for row in rows] for index in range(count)]


def _fail(status: int, problem: str) -> NoReturn:
    logger.error(problem)
    sys.exit(status)


class _NotOffered(argparse.Action):
    """An option of sacreBLEU that ends the command with what to do instead."""

    def __call__(self, parser: Any, _namespace: Any, _values: Any, option: str | None = None) -> None:
        parser.error(f"{option} is not offered: {self.metavar}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sacrebleu", description="Scores translations with BLEU, chrF and TER.", allow_abbrev=False
    )
    add = parser.add_argument
    add("refs", nargs="*", help="files of references, one per line; give them before -i")
    add("--input", "-i", nargs="*", help="file of hypotheses (default: standard input)")
    add("--num-refs", "-nr", type=int, default=1, help="references per line, separated by tabs (default: 1)")
    add("--encoding", "-e", default="utf-8", help="encoding of all files (default: utf-8)")
    add("--metrics", "-m", nargs="+", choices=["bleu", "chrf", "ter"], default=["bleu"], help="metrics (default: bleu)")
    add("--sentence-level", "-sl", action="store_true", help="print the score of each line")
    add("--language-pair", "-l", default="", help="languages, such as en-zh, for the tokenizer of the second")
    add("--version", "-V", action="version", version=f"%(prog)s {VERSION}")

    bleu = parser.add_argument_group("BLEU").add_argument
    methods = ", ".join(BLEU.SMOOTH_DEFAULTS)
    bleu(
        "--smooth-method",
        "-s",
        dest="bleu_smooth_method",
        choices=list(BLEU.SMOOTH_DEFAULTS),
        default="exp",
        help=f"smoothing: {methods} (default: exp)",
    )
    bleu(
        "--smooth-value",
        "-sv",
        dest="bleu_smooth_value",
        type=float,
        help="value for floor (default: 0.1) or add-k (default: 1)",
    )
    bleu(
        "--tokenize",
        "-tok",
        dest="bleu_tokenize",
        metavar="NAME",
        # For a tokenizer that is not offered, BLEU says what to do instead.
        choices=[*BLEU.TOKENIZERS, *BLEU.NOT_OFFERED],
        help=f"tokenizer: {', '.join(BLEU.TOKENIZERS)} (default: 13a)",
    )
    bleu("--lowercase", "-lc", dest="bleu_lowercase", action="store_true", help="compare in lowercase")
    bleu("--force", dest="bleu_force", action="store_true", help="do not warn about tokenized hypotheses")

    chrf = parser.add_argument_group("chrF").add_argument
    chrf("--chrf-char-order", "-cc", type=int, default=CHRF.CHAR_ORDER, help="order of characters (default: 6)")
    chrf("--chrf-word-order", "-cw", type=int, default=CHRF.WORD_ORDER, help="order of words (default: 0)")
    chrf("--chrf-beta", type=int, default=CHRF.BETA, help="importance of recall (default: 2)")
    chrf("--chrf-whitespace", action="store_true", help="count white space as characters")
    chrf("--chrf-lowercase", action="store_true", help="compare in lowercase")
    chrf("--chrf-eps-smoothing", action="store_true", help="take the mean of F over all orders")

    ter = parser.add_argument_group("TER").add_argument
    ter("--ter-case-sensitive", action="store_true", help="distinguish upper and lower case")
    ter("--ter-asian-support", action="store_true", help="know Chinese and Japanese characters")
    ter("--ter-no-punct", action="store_true", help="remove punctuation")
    ter("--ter-normalized", action="store_true", help="separate punctuation")

    output = parser.add_argument_group("output").add_argument
    output("--confidence", "-ci", action="store_true", help="print an interval from resampling (needs NumPy)")
    output("--confidence-n", "-cin", type=int, default=1000, help="resampled corpora (default: 1000)")
    output("--quiet", "-q", action="store_true", help="print no warnings")
    output("--short", "-sh", action="store_true", help="print short signatures")
    output("--score-only", "-b", action="store_true", help="print only scores")
    output("--width", "-w", type=int, default=1, help="decimals (default: 1)")
    output("--no-color", "-nc", action="store_true", help="accepted; the output has no color")
    output("--format", "-f", choices=["json", "text"], default="json", help="format (default: json)")
    for names, way_out in _NOT_OFFERED:
        add(*names, action=_NotOffered, nargs="*", help=argparse.SUPPRESS, metavar=way_out)
    return parser
