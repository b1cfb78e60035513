"""The API reference: a page generated from the OpenAPI document, with a form to try each route."""

from __future__ import annotations

import html
import importlib.resources
import json
from collections.abc import Iterable, Iterator
from typing import Any

from discreet.service.web.errors import CODES

_LONGEST = 90
#: What may happen on the page: styles of its own, its one script, and requests to its own server.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)


def script() -> str:
    """What sends the forms."""
    return importlib.resources.files("discreet").joinpath("service/web/reference.js").read_text("utf-8")


def reference(document: dict[str, Any]) -> str:
    """The HTML page that describes the HTTP interface."""
    package = importlib.resources.files("discreet")
    sheets = ("base.css", "service/web/reference.css")
    style = "".join(package.joinpath(name).read_text("utf-8") for name in sheets)
    operations = [
        (path, method.upper(), operation)
        for path, entry in document["paths"].items()
        for method, operation in entry.items()
    ]
    contents = "".join(
        f'<li><a href="#{_anchor(o)}"><code>{_text(method)} {_text(path)}</code></a></li>'
        for path, method, o in operations
    )
    about = "".join(f"<p>{_code(part)}</p>" for part in document["info"]["description"].strip().split("\n\n"))
    title = f"{_text(document['info']['title'])} {_text(document['info']['version'])}: reference"
    shown = document["components"]["schemas"]
    sections = "".join(_section(path, method, o, shown) for path, method, o in operations)
    schemas = "".join(_schema_section(name, s) for name, s in sorted(shown.items()))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{title}</title><style>{style}</style></head>'
        f"<body><header><h1>{title}</h1>{about}"
        '<p><a href="./">Dashboard</a>. As data: <a href="/openapi.json">openapi.json</a>.</p>'
        '<p hidden><label>API key for the forms below <input id="key" type="password" autocomplete="off">'
        "</label></p></header>"
        f'<nav aria-label="Routes"><h2>Routes</h2><ul>{contents}</ul></nav><main>{sections}'
        f'<section id="errors"><h2>Errors</h2>{_error_table()}</section>'
        f'<section id="schemas"><h2>Schemas</h2>{schemas}</section></main>'
        '<script src="/docs.js"></script></body></html>\n'
    )


def _section(path: str, method: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    role = operation.get("x-role")
    needs = f"Needs a key with the role <code>{_text(role)}</code>." if role else "Needs no key."
    parts = [
        f"<h2><code>{_text(method)} {_text(path)}</code></h2><p>{_code(operation['description'])} {needs}</p>"
    ]
    parameters = [p for p in operation.get("parameters", []) if p["in"] == "query"]
    if parameters:
        rows = ((p["name"], _type(p["schema"]), p.get("description", "")) for p in parameters)
        parts.append(f"<h3>Query</h3>{_table(('name', 'type', 'about'), rows)}")
    if "requestBody" in operation:
        taken = _schema(operation["requestBody"])
        parts.append(f"<h3>Body</h3><p>{_type(taken)}</p>{_example(taken, schemas)}")
    responses = (
        (_text(status), _type(_schema(entry)), _code(entry["description"]))
        for status, entry in sorted(operation["responses"].items())
    )
    parts.append(f"<h3>Responses</h3>{_table(('status', 'body', 'when'), responses, escaped=True)}")
    parts.append(_form(path, method, operation, schemas))
    return f'<section id="{_anchor(operation)}">{"".join(parts)}</section>'


def _form(path: str, method: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    """Fields for what a request consists of; without scripts nobody sees them."""
    fields = [
        f'<label>{_text(p["name"])} <input name="{_text(p["name"])}"'
        f"{' required' if p['in'] == 'path' else ''}></label> "
        for p in operation.get("parameters", [])
    ]
    if "requestBody" in operation:
        body = json.dumps(next(_examples(_schema(operation["requestBody"]), schemas), {}))
        fields.append(f'<label>Body <textarea rows="3" spellcheck="false">{_text(body)}</textarea></label> ')
    return (
        f'<form class="try" hidden data-method="{_text(method)}" data-path="{_text(path)}"><h3>Try it</h3>'
        f"{''.join(fields)}<button>Send</button><pre><output></output></pre></form>"
    )


def _example(schema: dict[str, Any] | None, schemas: dict[str, Any]) -> str:
    return "".join(
        f"<p>For example:</p><pre><code>{_text(json.dumps(body))}</code></pre>"
        for body in _examples(schema, schemas)
    )


def _examples(schema: dict[str, Any] | None, schemas: dict[str, Any]) -> Iterator[Any]:
    """Example bodies of a route, from the first schema it names."""
    first = (schema or {}).get("anyOf", [schema])[0] or {}
    yield from schemas.get(first.get("$ref", "").rsplit("/", 1)[-1], {}).get("examples", ())


def _schema_section(name: str, schema: dict[str, Any]) -> str:
    required = set(schema.get("required", ()))
    rows = [
        (
            f"<code>{_text(field)}</code>" + (" (required)" if field in required else ""),
            _type(s) + (f", by default {_text(json.dumps(s['default']))}" if "default" in s else ""),
            _code(s.get("description", "")),
        )
        for field, s in schema.get("properties", {}).items()
    ]
    table = _table(("field", "type", "about"), rows, escaped=True) if rows else f"<p>{_type(schema)}</p>"
    about = _code(" ".join(schema.get("description", "").split()))
    return f'<section id="{_text(name)}"><h3>{_text(name)}</h3><p>{about}</p>{table}</section>'


def _error_table() -> str:
    rows = ((code, str(status), about) for code, (status, about) in CODES.items())
    body = '<p><code>{"error": {"code": "...", "message": "..."}}</code></p>'
    return body + _table(("code", "status", "when"), rows)


def _type(schema: dict[str, Any] | None) -> str:
    """A short description of a schema, as markup."""
    if schema is None:
        return ""
    if "$ref" in schema:
        name = _text(schema["$ref"].rsplit("/", 1)[-1])
        return f'<a href="#{name}">{name}</a>'
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            return " or ".join(_type(part) for part in schema[word])
    if "enum" in schema or "const" in schema:
        values = [json.dumps(value) for value in schema.get("enum", [schema.get("const")])]
        shown = " | ".join(values)
        return f"<code>{_text(shown)}</code>" if len(shown) <= _LONGEST else "one of the codes below"
    kind = schema.get("type")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return _text(str(kind)) + _range(schema) if kind else "anything"


def _range(schema: dict[str, Any]) -> str:
    words = {
        "minimum": "from",
        "exclusiveMinimum": "above",
        "maximum": "to",
        "exclusiveMaximum": "below",
        "maxLength": "of at most",
        "pattern": "like",
    }
    return "".join(f" {word} {_text(str(schema[key]))}" for key, word in words.items() if key in schema)


def _schema(entry: dict[str, Any]) -> dict[str, Any] | None:
    return next((content.get("schema") for content in entry.get("content", {}).values()), None)


def _table(header: Iterable[str], rows: Iterable[Iterable[str]], *, escaped: bool = False) -> str:
    head = "".join(f'<th scope="col">{_text(cell)}</th>' for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{cell if escaped else _code(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _anchor(operation: dict[str, Any]) -> str:
    return _text(operation["operationId"])


def _text(text: str) -> str:
    return html.escape(text)


def _code(text: str) -> str:
    """Text with code between backticks."""
    parts = _text(text).split("`")
    return "".join(f"<code>{part}</code>" if k % 2 else part for k, part in enumerate(parts))
