"""Data files as values in memory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import _native

_Path = str | os.PathLike[str]


class Source:
    """The records of a data file, each an id and a value, in the order of the file.

    Attributes:
        ids: The ids, as text.
        values: The values. A function of a metric takes them as predictions or references.

    >>> import pathlib, tempfile, metric_suite
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "found.jsonl"
    >>> _ = path.write_text('{"id": "a", "prediction": "the cat"}')
    >>> list(metric_suite.read(path))
    [('a', 'the cat')]
    """

    __slots__ = ("ids", "values")

    def __init__(self, ids: list[str], values: list[Any]) -> None:
        self.ids, self.values = ids, values

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(zip(self.ids, self.values))

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<Source: {len(self)} record{'' if len(self) == 1 else 's'}>"

    def to_dict(self) -> dict[str, Any]:
        """Returns the values by id. Functions of metrics join such mappings by id."""
        return dict(self)

    def to_arrow(self) -> Any:
        """Returns a ``pyarrow.Table`` with the columns ``id`` and ``value``."""
        import pyarrow

        return pyarrow.table({"id": self.ids, "value": self.values})

    def to_pandas(self) -> Any:
        """Returns a ``pandas.DataFrame`` with the columns ``id`` and ``value``."""
        import pandas

        return pandas.DataFrame({"id": self.ids, "value": self.values})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def read(
    path: _Path | Sequence[_Path],
    *,
    id_field: str = "id",
    field: str | None = None,
    input_format: str | None = None,
    split: str | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    header: str | None = None,
    empty_field: str | None = None,
    speaker: str | None = None,
    speaker_prefix: str | None = None,
    level: str | None = None,
    tier: str | Sequence[str] | None = None,
    max_bytes: int | None = None,
) -> Source:
    """Reads a data file in any format that the program ``metric`` reads.

    Args:
        path: A path, a pattern, or a list of paths: JSON Lines, JSON, CSV, TSV, Parquet, Arrow, text, transcripts,
            also compressed; or a folder that ``Dataset.save_to_disk`` wrote.
        id_field: The field of the id, or ``"#row"`` for the number of the row.
        field: The field of the value; by default ``reference``, ``references`` or ``prediction``, whichever a record has.
        input_format: The format, if the name of the file does not tell it.
        split: The split of a dataset folder.
        delimiter: The delimiter of CSV.
        quote: Whether CSV has quotes: ``"double"`` or ``"none"``.
        header: The position of the header of CSV: ``"first"`` or ``"none"``.
        empty_field: The meaning of an empty field of CSV: ``"error"``, ``"text"`` or ``"null"``.
        speaker: The speaker of a CTM file: ``"file"`` for its name, or ``"channel"``.
        speaker_prefix: The form of a speaker's name at the start of a text of SRT or WebVTT: ``"brackets"``, ``"colon"`` or
            ``"none"``.
        level: The parts of JSON of Whisper that are read: ``"segment"`` or ``"word"``.
        tier: The tier of a TextGrid to read, or several, instead of all.
        max_bytes: The most bytes of a line, or of a file of JSON.

    Raises:
        FileNotFoundError: There is no such file.
        MetricError: A record is invalid. The message names the file and the line.
    """
    given: Mapping[str, Any] = {
        "input_format": input_format,
        "split": split,
        "delimiter": delimiter,
        "quote": quote,
        "header": header,
        "empty_field": empty_field,
        "speaker": speaker,
        "speaker_prefix": speaker_prefix,
        "level": level,
        "tier": tier,
        "max_bytes": max_bytes,
    }
    settings = {name: value for name, value in given.items() if value is not None}
    fields = ["reference", "references", "prediction"] if field is None else [field]
    from ._metric import _existing

    ids, values = _native.read_records(_existing(path), id_field, fields, settings)
    return Source(ids, json.loads(values))
