"""Bad input: each file gives one clear line, and the others are still checked."""

from __future__ import annotations

import os
import sys

import pytest

from mindport.config import Config
from mindport.engine import Engine
from mindport.source.text import SourceError, decode, from_text, split_lines

BAD = "from mindspore import nn\n\n\nclass Net(nn.Cell):\n    def forward(self, x):\n        return x\n"


def check(data: bytes, tmp_path, name="a.py"):
    file = tmp_path / name
    file.write_bytes(data)
    return Engine(Config()).check_file(file)


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (b"import torch\ndef f(:\n", 2, "syntax error"),
        (b"# coding: klingon\nimport torch\n", 1, "encoding declaration"),
        (b"# coding: ascii\nimport torch # \xe4\n", 2, "does not match its declaration"),
        (b"import torch\nx = '\xff'\n", 2, "not valid utf-8"),
        (b"import torch\nx = 1\0\n", 2, "NUL byte"),
        (b"import torch\nx = " + b"(" * 5000 + b")" * 5000 + b"\n", None, ""),
    ],
)
def test_unreadable_source_is_one_clear_error(data, line, reason, tmp_path):
    error = check(data, tmp_path).error
    assert error is not None
    assert reason in error.reason
    assert "\n" not in error.reason
    if line is not None:
        assert error.line == line


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + BAD.encode(),
        BAD.replace("\n", "\r\n").encode(),
        ("# coding: gbk\n# 中文\n" + BAD).encode("gbk"),
        ("\f\n" + BAD).encode(),
    ],
)
def test_bom_crlf_other_encodings_and_form_feeds_are_read(data, tmp_path):
    result = check(data, tmp_path)
    assert result.error is None
    assert [(f.code, f.column) for f in result.findings] == [("MSP101", 8)]


def test_columns_count_characters_not_bytes(tmp_path):
    code = 'from mindspore import nn\nx = "中文"; bn = nn.BatchNorm2d(3, momentum=0.1)\n'
    (finding,) = check(code.encode(), tmp_path).findings
    line = code.splitlines()[1]
    assert line[finding.column : finding.span.end_column] == "0.1"


def test_tabs_count_as_one_column(tmp_path):
    result = check(BAD.replace("    ", "\t").encode(), tmp_path)
    assert [f.column for f in result.findings] == [5]


def test_empty_file_is_clean(tmp_path):
    result = check(b"", tmp_path)
    assert result.error is None
    assert result.findings == ()


def test_large_file_is_refused_with_its_size(tmp_path):
    error = check(b"import torch\n" + b"#" * (10 * 1024 * 1024), tmp_path).error
    assert error is not None
    assert "MB" in error.reason


def test_deep_nesting_is_an_error_or_a_result_never_a_crash(tmp_path):
    for code in (
        "import torch\nx = " + "+".join(["1"] * 5000) + "\n",
        "import torch\nx = torch" + ".a" * 5000 + "\n",
        "import torch\n" + "".join(" " * i + "if 1:\n" for i in range(90)) + " " * 90 + "pass\n",
    ):
        result = check(code.encode(), tmp_path)
        assert result.findings == () or result.error is None


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="root may read every file; needs an ordinary user"
)
def test_unreadable_file_is_reported(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("import torch\n")
    file.chmod(0)
    error = Engine(Config()).check_file(file).error
    assert error is not None
    assert "cannot be read" in error.reason


def test_lines_are_split_as_python_counts_them():
    assert split_lines("a\fb\u2028c\r\nd\re") == ["a\fb\u2028c", "d", "e"]


def test_segment_spans_lines():
    source = from_text("a.py", "f(\n  1,\n  2)\n")
    assert source.segment(source.tree.body[0]) == "f(\n  1,\n  2)"


def test_decode_reports_the_line():
    with pytest.raises(SourceError) as caught:
        decode(b"a\nb\n\xff")
    assert caught.value.line == 3
