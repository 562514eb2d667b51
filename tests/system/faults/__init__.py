"""Everything that goes wrong, one class each; `FAULTS` has one of every kind."""

from tests.system.faults.clocks import DatabaseClock, NodeClock
from tests.system.faults.disk import FullDisk
from tests.system.faults.fault import Both, Fault
from tests.system.faults.insides import BlockLoop, ExhaustPool
from tests.system.faults.network import CutCell, CutNode, LoseReplies, Reset, Sever, SlowDatabase, Trickle
from tests.system.faults.nodes import KillAll, KillNode, PauseNode, RollingRestart
from tests.system.faults.packets import DropPackets
from tests.system.faults.postgres import StopPostgres, TerminateStorm
from tests.system.faults.target import DropAnswers

FAULTS: list[Fault] = [
    KillNode(),
    KillAll(),
    PauseNode(),
    RollingRestart(),
    StopPostgres(),
    TerminateStorm(),
    CutCell(),
    CutNode(),
    DropPackets(),
    Sever(),
    Reset(),
    SlowDatabase(),
    Trickle(),
    LoseReplies(),
    NodeClock(),
    DatabaseClock(),
    BlockLoop(),
    ExhaustPool(),
    FullDisk(),
    DropAnswers(),
]
BY_NAME = {fault.name: fault for fault in FAULTS}

__all__ = ["BY_NAME", "FAULTS", "Both", "Fault"]
