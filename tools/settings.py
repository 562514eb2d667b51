"""Writes docs/settings.md from the settings' own docstrings: `python tools/settings.py > docs/settings.md`."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from horae.runtime.settings.facts import ReadBy, Secrecy, SettingsGroup, SettingsPart, Unit, fact_of
from horae.runtime.settings.places import variable_of
from horae.runtime.settings.settings import GROUPS

TITLES = {
    "DatabaseSettings": "Deployment and databases",
    "EncryptionSettings": "Encryption",
    "CallSettings": "Calls and events",
    "NodeSettings": "Nodes",
    "MeasureSettings": "Protective measures",
    "ApiSettings": "API",
    "RetentionSettings": "Retention, archive and audit",
    "MonitoringSettings": "Monitoring and logs",
    "MailSettings": "Mail",
}
HEAD = """# Settings

Every setting of a deployment. This page is written from the code by `tools/settings.py`, and a test keeps it so.

## Where they come from
1. **The environment**: `HORAE_SLOTS=500`. Lists and tables are JSON (`HORAE_CELLS='[{"name": …}]'`), and a key of a
   table may be a variable of its own (`HORAE_OIDC__CLIENT_SECRET`). An empty variable is not set.
2. **One TOML file**: what `horae --config FILE` or `HORAE_CONFIG` names, or `/etc/horae/horae.toml` where it exists.
   The keys are the names of this page in lower case without `HORAE_`.
3. **The defaults** of this page.

The environment wins over the file, the file over the defaults. Tables are merged key by key, lists are replaced as a
whole. `horae config show` prints every value without secrets and where it comes from; `horae config check` examines
them without opening a network connection.

**A secret may be in a file of its own**, as Docker, Kubernetes and systemd give it: put `_FILE` behind its name
(`HORAE_API_SECRET_FILE=/run/secrets/api`, in the file `api_secret_file = "/run/secrets/api"`). The ends of lines at
its end do not count. A table or list is JSON there. Secrets are marked with a key (🔑) below.

Refused, with one line that names the file or variable and the key, and never a value:

- a value that is given twice in one layer: `HORAE_API_SECRET` and `HORAE_API_SECRET_FILE`, `HORAE_DSN` and
  `HORAE_CELLS`;
- a key that the file or a table does not have, with the nearest name that there is;
- a settings file with a secret in it that every user of the machine may read. `chmod 640` and the group of the
  service is enough. Files that hold one secret each may have any mode, because containers mount them readable for
  all; `horae config check` tells which.

Variables that are no settings are left alone, because other programs and Kubernetes make some that begin with
`HORAE_`. `horae config check` names those that look like a mistake. In Kubernetes set `enableServiceLinks: false`: a
Service called `horae-api` would set `HORAE_API_PORT`.

```toml
environment = "production"
keyring = "/etc/horae/keyring.json"
api_secret_file = "/etc/horae/api-secret"

[[cells]]
name = "cell-0"
dsn = "postgresql://horae_engine@db.example.com/horae?sslmode=verify-full"
upkeep_dsn = "postgresql://horae_migrate@db.example.com/horae?sslmode=verify-full"

[egress]
networks = ["10.20.0.0/16"]
ports = ["443", "8000-8999"]
plain = true
```

Under *read by*, *commands* are those that open PostgreSQL themselves ([command line](cli.md)). Every process that
reads a setting needs the same value, unless the text says otherwise.
"""


def page() -> str:
    """Returns the page."""
    return HEAD + "".join(_section(group) for group in GROUPS)


def docs_of(model: type[BaseModel]) -> dict[str, str]:
    """The docstring below each field of a class, with its paragraphs on a line each."""
    [body] = [node.body for node in ast.parse(textwrap.dedent(inspect.getsource(model))).body]  # type: ignore[attr-defined]
    return dict(_docs(body))


def own_fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields that a class itself declares, in its order."""
    return {name: model.model_fields[name] for name in model.__annotations__ if name in model.model_fields}


def readers_of(group: type[SettingsGroup], field: FieldInfo) -> tuple[str, ...]:
    """The processes that read a setting."""
    found = fact_of(field, ReadBy)
    return group.READ_BY if found is None else found.processes


def tables_of(group: type[SettingsGroup]) -> list[tuple[str, type[SettingsPart]]]:
    """The settings of a group that are tables or lists of tables, each with the class of the table."""
    found = [(name, part) for name, field in own_fields(group).items() if (part := _part(field.annotation))]
    return [(name, part) for name, part in found if name != "api_cells"]  # the same table as that of `cells`


def _docs(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, doc in pairwise(body):
        match field, doc:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                paragraphs = inspect.cleandoc(text).split("\n\n")
                yield name, "\n".join(" ".join(one.split()) for one in paragraphs)


def _section(group: type[SettingsGroup]) -> str:
    docs = docs_of(group)
    rows = "".join(
        f"| `{variable_of((name,))}`{_mark(field)} | {_default(field)} | {', '.join(readers_of(group, field))} "
        f"| {_cell(docs[name])} |\n"
        for name, field in own_fields(group).items()
    )
    head = f"\n## {TITLES[group.__name__]}\n{inspect.getdoc(group)}\n\n"
    tables = "".join(_table(name, part) for name, part in tables_of(group))
    return f"{head}| setting | default | read by | meaning, and when to change it |\n|---|---|---|---|\n{rows}{tables}"


def _table(name: str, part: type[SettingsPart]) -> str:
    docs = docs_of(part)
    rows = "".join(
        f"| `{key}`{_mark(field)} | {_default(field)} | {_cell(docs[key])} |\n"
        for key, field in own_fields(part).items()
    )
    return f"\n### `{variable_of((name,))}`\n{inspect.getdoc(part)}\n\n| key | default | |\n|---|---|---|\n{rows}"


def _part(annotation: Any) -> type[SettingsPart] | None:
    if isinstance(annotation, type) and issubclass(annotation, SettingsPart):
        return annotation
    return next((found for one in getattr(annotation, "__args__", ()) if (found := _part(one))), None)


def _mark(field: FieldInfo) -> str:
    return " 🔑" if fact_of(field, Secrecy) else ""


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    return _value(field) + _range(field)


def _range(field: FieldInfo) -> str:
    """The least and the largest value, where the type itself does not say them."""
    bounds = {name: value for one in field.metadata for name in ("ge", "le") if (value := getattr(one, name, None))}
    match bounds:
        case {"ge": least, "le": most}:
            return f", {least:g} to {most:g}"
        case {"ge": least}:
            return f", at least {least:g}"
    return ""


def _value(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    unit = fact_of(field, Unit)
    behind = f" {unit.name}" if unit else ""
    match value:
        case None | "":
            return f"none ({unit.name})" if unit else "none"
        case bool():
            return f"`{str(value).lower()}`"
        case float() | int():
            return f"{value:,.10g}{behind}" if isinstance(value, float) else f"{_number(value, field)}{behind}"
        case list() | tuple() | dict():
            return "empty" if not value else ", ".join(f"`{one}`" for one in value)
    return f"`{value}`"


def _number(value: int, field: FieldInfo) -> str:
    return str(value) if any(getattr(one, "le", None) == 65535 for one in field.metadata) else f"{value:,}"


def _cell(text: str) -> str:
    return text.replace("\n", "<br>").replace("|", "\\|")


if __name__ == "__main__":
    print(page(), end="")
