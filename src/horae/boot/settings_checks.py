"""Checks the settings of a process without a network: what would make it refuse to start, or fail later."""

import os
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from horae.domain.errors import HoraeError
from horae.domain.health.doctor import Diagnosis, Severity
from horae.domain.targets.egress import Egress
from horae.runtime.settings import CellSettings, Settings
from horae.runtime.settings.layers import read_layers
from horae.runtime.settings.places import PREFIX, OriginKind
from horae.runtime.settings.secret_files import FILE_SUFFIX, file_keys, open_to_others
from horae.runtime.settings.settings_file import CONFIG_VARIABLE
from horae.security.signed_texts import check_secret

NEAR_RATIO: Final = 0.85
"""How alike a variable and a setting are before one is taken for a mistake in writing the other."""


class Process(StrEnum):
    """The processes whose settings can be checked."""

    NODE = "node"
    API = "api"


def examine_settings(settings: Settings, process: Process | None = None) -> list[Diagnosis]:
    """Check the settings for one process, or for both."""
    found = [_ok("environment", settings.environment)]
    found += _keys(settings)
    if process is not Process.API:
        found += _databases("databases", settings, settings.all_cells())
    if process is not Process.NODE:
        found += _databases("databases of the API", settings, settings.api_server_cells())
        found += _attempt("HORAE_API_SECRET", lambda: check_secret(settings.api_secret), "set")
    found += _attempt("HORAE_EGRESS", lambda: Egress(**settings.all_egress().model_dump()), "read")
    found += _ports(settings)
    found += _files(settings)
    found += _extras(settings)
    found += _secret_files()
    found += _variables()
    return found


def _ok(name: str, text: str) -> Diagnosis:
    return Diagnosis(Severity.OK, name, text)


def _fault(name: str, found: str, advice: str) -> Diagnosis:
    return Diagnosis(Severity.FAULT, name, found, advice)


def _attempt(name: str, work: Callable[[], object], well: str) -> Iterator[Diagnosis]:
    """What a function that refuses has to say."""
    try:
        work()
    except HoraeError as error:
        yield _fault(name, "refused", str(error))
    except OSError as error:
        yield _fault(name, f"{error.filename} cannot be read", f"{error.strerror}: {error.filename}")
    else:
        yield _ok(name, well)


def _keys(settings: Settings) -> Iterator[Diagnosis]:
    if settings.encryption == "off":
        yield Diagnosis(Severity.HINT, "HORAE_ENCRYPTION", "off", "payloads and secrets are readable in the database")
    elif settings.keyring is None and settings.transit is None:
        advice = "set HORAE_KEYRING to a file that `horae keyring create` makes, or HORAE_TRANSIT to a key service"
        yield _fault("HORAE_KEYRING", "no key is configured", advice)
    if settings.keyring is not None:
        from horae.security import keyrings  # noqa: PLC0415 - it loads the cryptography, for a keyring only

        path = settings.keyring
        yield from _attempt("HORAE_KEYRING", lambda: keyrings.load(path), str(path))


def _databases(name: str, settings: Settings, cells: list[CellSettings]) -> Iterator[Diagnosis]:
    if not cells:
        yield _fault(
            name, "none", "set HORAE_DSN, for example postgresql://horae_engine@localhost/horae, or HORAE_CELLS"
        )
        return
    from horae.boot.transports import check_dsns  # noqa: PLC0415 - it loads the driver, which reads DSNs

    for cell in cells:
        yield from _attempt(f"{name}: {cell.name}", lambda cell=cell: check_dsns(settings, [cell]), "read")  # type: ignore[misc]


def _ports(settings: Settings) -> Iterator[Diagnosis]:
    """Two listeners of one machine cannot share a port. Whether another program has it, only a start can tell."""
    ports = {
        "HORAE_API_PORT": settings.api_port,
        "HORAE_API_MONITORING_PORT": settings.api_monitoring_port,
        "HORAE_NODE_MONITORING_PORT": settings.node_monitoring_port,
    }
    for name, port in ports.items():
        same = [other for other, its in ports.items() if its == port != 0]
        if len(same) > 1 and same[0] == name:
            yield _fault(" and ".join(same), f"all are {port}", "give each listener a port of its own")


def _files(settings: Settings) -> Iterator[Diagnosis]:
    """The files that settings name, beside the keyring and secret files, which are read already."""
    transit = settings.transit
    named = {
        "HORAE_SMTP_CA_FILE": settings.smtp_ca_file,
        "HORAE_TRANSIT__CA_FILE": None if transit is None else transit.ca_file,
        "HORAE_TRANSIT__TOKEN_FILE": None if transit is None else transit.token_file,
    }
    for name, path in named.items():
        if path is not None:
            yield _readable(name, path)
    anchors = settings.audit_anchors
    if anchors is not None and not os.access(anchors if anchors.exists() else anchors.parent, os.W_OK):
        yield _fault(
            "HORAE_AUDIT_ANCHORS", f"{anchors} cannot be written", "create its folder, or let this user write it"
        )


def _readable(name: str, path: Path) -> Diagnosis:
    if os.access(path, os.R_OK) and path.is_file():
        return _ok(name, str(path))
    found = f"{path} cannot be read" if path.exists() else f"{path} does not exist"
    return _fault(name, found, "name a file that this user may read")


def _extras(settings: Settings) -> Iterator[Diagnosis]:
    """Libraries that a setting needs and that are not part of every installation."""
    wanted = {
        "HORAE_ARCHIVE": (settings.archive, "obstore", "archive"),
        "HORAE_TRACES": (settings.traces, "opentelemetry", "traces"),
    }
    for name, (value, library, extra) in wanted.items():
        if value is not None and find_spec(library) is None:
            yield _fault(name, f"{library} is not installed", f"pip install 'horae[{extra}]'")


def _secret_files() -> Iterator[Diagnosis]:
    for name, origins in read_layers(Settings).origins.items():
        for one in origins:
            if one.kind is OriginKind.SECRET_FILE and open_to_others(Path(one.where)):
                advice = f"outside of a container: `chmod 640 {one.where}`"
                yield Diagnosis(Severity.HINT, f"{PREFIX}{name.upper()}", "every user may read its file", advice)


def _variables() -> Iterator[Diagnosis]:
    """Variables that are no settings and look like one."""
    keys = [*Settings.model_fields, *file_keys(Settings)]
    known = [f"{PREFIX}{key.upper()}" for key in keys]
    for name in sorted(os.environ):
        upper = name.upper()
        if not upper.startswith(PREFIX) or upper == CONFIG_VARIABLE or upper.partition("__")[0] in known:
            continue
        if near := get_close_matches(
            upper.removeprefix(PREFIX), [one.removeprefix(PREFIX) for one in known], 1, NEAR_RATIO
        ):
            yield _fault(name, "there is no such setting", f"did you mean {PREFIX}{near[0]}?")
        elif upper.endswith(FILE_SUFFIX.upper()) and upper.removesuffix(FILE_SUFFIX.upper()) in known:
            yield _fault(name, "only secrets may be in a file", f"set {upper.removesuffix(FILE_SUFFIX.upper())} itself")
