"""Another release of tzdata in place of the installed one, as a process that starts after the upgrade would find it."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from horae.domain.zones import zones


@contextmanager
def another_release(folder: Path, version: str, rules: Mapping[str, str]) -> Iterator[None]:
    """In this release each of the zones has the rules of another one. Zones that are not named keep theirs."""
    installed = resources.files("tzdata")
    kept = {name: name for name in ("UTC", "Asia/Shanghai")}
    package = folder / version / "tzdata"
    for name, source in (kept | dict(rules)).items():
        file = package / "zoneinfo" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(installed.joinpath("zoneinfo", *source.split("/")).read_bytes())
    (package / "zones").write_text("\n".join([*kept, *rules]))
    (package / "__init__.py").write_text(f'IANA_VERSION = "{version}"\n')
    before = _forget_release()
    sys.path.insert(0, str(package.parent))
    try:
        yield
    finally:
        sys.path.remove(str(package.parent))
        _forget_release()
        sys.modules.update(before)


def _forget_release() -> dict[str, object]:
    """A process reads its release once: forget it, so that the next question reads it again."""
    zones.zone.cache_clear()
    zones.names.cache_clear()
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "tzdata"}
