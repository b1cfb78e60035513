"""Read any JSON, so that no private value in it can change the response.

Python's parser refuses numbers of thousands of digits and thousands of nested lists, so that a cost or a
function could change the response. Here such numbers become floats, and what is nested too deep becomes null,
which counts as neutral.
"""

from __future__ import annotations

import json
import re
from typing import Any

from discreet.service.web.errors import HttpError

#: Integers with more digits become floats.
_MOST_DIGITS = 30
#: What is nested deeper becomes null, in documents that are too deep to be parsed.
_DEEPEST = 100
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]|[^"\[\]{}]+|".*', re.DOTALL)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


_DECODER = json.JSONDecoder(parse_int=_integer)


def read_json(body: bytes) -> Any:
    """Parse a body; an empty one is an empty object."""
    if not body:
        return {}
    try:
        text = body.decode("utf-8")
        try:
            return _DECODER.decode(text)
        except RecursionError:
            return _DECODER.decode(_shallow(text))
    except (ValueError, RecursionError):  # without the parser's message, which may quote the body
        raise HttpError("invalid_json") from None


def _shallow(text: str) -> str:
    """The same document with null for whatever is nested too deep."""
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
