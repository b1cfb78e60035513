"""Reading JSON so that no private value in it makes a difference: any JSON is read.

Python's reader gives up on numbers of thousands of digits and on lists within thousands of lists, which would
let a cost or a function decide over the answer. Here such numbers become floats, and what is nested too deep
becomes null, which is as good as any value that is no cost.
"""

from __future__ import annotations

import json
import re
from typing import Any

from discreet.service.web.problems import Problem

#: Whole numbers of more digits become floats.
_MOST_DIGITS = 30
#: What is nested deeper than this becomes null, in documents that are too deep to be read.
_DEEPEST = 100
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]|[^"\[\]{}]+|".*', re.DOTALL)


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


_DECODER = json.JSONDecoder(parse_int=_whole)


def read_json(body: bytes) -> Any:
    """What a body says; a body that is empty says an empty object."""
    if not body:
        return {}
    try:
        text = body.decode("utf-8")
        try:
            return _DECODER.decode(text)
        except RecursionError:
            return _DECODER.decode(_shallow(text))
    except (ValueError, RecursionError):  # neither says what was read
        raise Problem("invalid_json") from None


def _shallow(text: str) -> str:
    """The same document with null in place of whatever is nested too deep."""
    parts, depth = [], 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "[{":
            depth += 1
            if depth == _DEEPEST + 1:
                parts.append("null")
        if depth <= _DEEPEST:
            parts.append(token)
        if token in "]}":
            depth -= 1
    return "".join(parts)
