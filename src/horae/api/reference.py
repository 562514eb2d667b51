"""`/docs`: the OpenAPI document as a plain page, without scripts and without files of other sites."""

import json
import re
from html import escape
from typing import Any, Final

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}
CODE: Final = re.compile(r"`([^`]+)`")
STYLE: Final = """
:root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.5 }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
summary { cursor: pointer; padding: .3rem 0 } code, pre { font-family: ui-monospace, monospace; font-size: .9em }
pre { overflow-x: auto; padding: .7rem; border: 1px solid #8885; border-radius: .4rem }
b { display: inline-block; min-width: 4.5rem } table { border-collapse: collapse }
td, th { text-align: left; padding: .2rem 1rem .2rem 0 }
small { opacity: .75 }
"""


def page(document: dict[str, Any]) -> str:
    """Returns the page."""
    parts = [f"<h1>{_e(document['info']['title'])} {_e(document['info']['version'])}</h1>"]
    parts.append(f"<p>{_text(document['info']['description'])}</p><p><a href='/openapi.json'>openapi.json</a></p>")
    for tag, operations in _by_tag(document).items():
        parts.append(f"<h2>{_e(tag)}</h2>")
        parts += [_operation(document, *operation) for operation in operations]
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Horae API</title>"
        "<meta name='viewport' content='width=device-width'><link rel='stylesheet' href='/docs/style.css'></head>"
        f"<body>{''.join(parts)}</body></html>"
    )


def _by_tag(document: dict[str, Any]) -> dict[str, list[tuple[str, str, dict[str, Any]]]]:
    found: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            found.setdefault(operation.get("tags", ["other"])[0], []).append((path, method, operation))
    return found


def _operation(document: dict[str, Any], path: str, method: str, operation: dict[str, Any]) -> str:
    title, roles = operation.get("summary", ""), ", ".join(operation.get("x-horae-roles", ["anyone"]))
    rows = "".join(
        f"<tr><td><code>{_e(one['name'])}</code></td>"
        f"<td>{_e(one['in'])}{', required' if one.get('required') else ''}</td>"
        f"<td>{_text(one.get('description', ''))}</td></tr>"
        for one in operation.get("parameters", ())
    )
    answers = "".join(
        f"<tr><td>{_e(status)}</td><td>{_text(answer.get('description', ''))}</td></tr>"
        for status, answer in operation["responses"].items()
    )
    return (
        f"<details><summary><b>{_e(method.upper())}</b><code>{_e(path)}</code> {_e(title)}</summary>"
        f"<p>{_text(operation.get('description', ''))}</p><p><small>roles: {_e(roles)}</small></p>"
        f"<table>{rows}</table>{_body(document, operation)}<table>{answers}</table></details>"
    )


def _body(document: dict[str, Any], operation: dict[str, Any]) -> str:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return ""
    name = content["schema"].get("$ref", "").rpartition("/")[2]
    schema = document["components"]["schemas"].get(name, content["schema"])
    return "".join(f"<pre>{_e(_pretty(example))}</pre>" for example in schema.get("examples", ())) + (
        f"<p>fields: {', '.join(f'<code>{_e(field)}</code>' for field in schema.get('properties', ()))}</p>"
    )


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _text(text: object) -> str:
    """Returns a text as HTML, with the words in backticks as code."""
    return CODE.sub(r"<code>\1</code>", _e(text))


def _e(text: object) -> str:
    return escape(str(text), quote=True)
