"""Wheels that are compressed again have the same files."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("zopfli")
sys.path.insert(0, str(Path(__file__).parents[1]))

from repack import repack  # noqa: E402


def test_files_are_the_same(tmp_path):
    wheel, text = tmp_path / "a.whl", b"the cat sat on the mat. " * 500
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr("b/text.txt", text)
        file.writestr("a/RECORD", b"b/text.txt,,\n")
    before = zipfile.ZipFile(wheel).infolist()
    size = wheel.stat().st_size
    repack(wheel)
    with zipfile.ZipFile(wheel) as file:
        assert file.testzip() is None and file.read("b/text.txt") == text
        after = file.infolist()
    assert [(it.filename, it.date_time, it.CRC) for it in after] == [(it.filename, it.date_time, it.CRC) for it in before]
    assert wheel.stat().st_size < size and list(tmp_path.iterdir()) == [wheel]
