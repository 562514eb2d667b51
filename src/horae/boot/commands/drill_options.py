"""The options of `horae drill`: what many drills share."""

from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

SHORTEST_LIMIT_S: Final = 30.0
LONGEST_LIMIT_S: Final = 4 * 3600.0
MOST_FIRES_PER_S: Final = 500
MOST_LISTED: Final = 1000

Folder = Annotated[Path, typer.Option("--folder", help="Where the report goes, in a folder of its own.")]
Confirm = Annotated[str | None, typer.Option("--confirm", help="In production: the name of the deployment, typed.")]
Limit = Annotated[float, typer.Option("--limit", help="Seconds after which the way back is taken in any case.")]
Hold = Annotated[float, typer.Option("--hold", help="For how many seconds the fault lasts at most.")]
Rate = Annotated[int, typer.Option("--fires", min=1, max=MOST_FIRES_PER_S, help="Fires a second of the drill's load.")]
Host = Annotated[str, typer.Option("--host", help="The address of this machine at which nodes reach the receiver.")]
Rto = Annotated[float, typer.Option("--rto", help="The target of the RTO in seconds.")]
Rpo = Annotated[float, typer.Option("--rpo", help="The target of the RPO in seconds.")]
Settle = Annotated[
    float,
    typer.Option("--settle", min=0, help="Seconds before the audit of fires, which leaves out the last 2 minutes."),
]
Pid = Annotated[int | None, typer.Option("--pid", help="The process on this host, by its pid.")]
PidFile = Annotated[Path | None, typer.Option("--pid-file", help="A file that begins with the pid.")]
Unit = Annotated[str | None, typer.Option("--unit", help="A unit of systemd on this host, such as horae-node.")]
CellName = Annotated[str, typer.Option("--cell", help="The cell, by its name in the settings.")]
HERE: Final = Path("drills")
LOOPBACK: Final = "127.0.0.1"
LIMIT_S: Final = 600.0
HOLD_S: Final = 60.0
FIRES_PER_S: Final = 20
RESTORE_LIMIT_S: Final = 3600.0
CONFIG: Final = Path("/etc/pgbackrest/pgbackrest.conf")
PGBACKREST: Final = Path("/usr/bin/pgbackrest")


class DrillOptions(NamedTuple):
    """The options that drills under load share."""

    folder: Path
    reason: str | None
    confirm: str | None
    fires_per_s: int
    hold_s: float
    limit_s: float
    rto_s: float
    rpo_s: float
    settle_s: float
    host: str
