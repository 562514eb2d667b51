"""The Python client of Horae: `Client`, `AsyncClient`, `Worker`, receivers, and an outbox for your transactions."""

from horae_client import errors, models
from horae_client.client import AsyncClient, Client
from horae_client.graphs import Graph
from horae_client.outcomes import Declined, Retry, Snooze, Unrecoverable
from horae_client.retries import Retries
from horae_client.specs import (
    After,
    CalendarRule,
    CalendarWindow,
    Cancel,
    Cron,
    Delay,
    Http,
    HttpOrigin,
    Interval,
    Keyed,
    Listed,
    Manual,
    Misfire,
    Once,
    Policies,
    PushOrigin,
    Put,
    Queue,
    RetryPolicy,
    Rolling,
    Spread,
    SqlOrigin,
    Step,
    Topic,
)
from horae_client.version import VERSION
from horae_client.worker import Context, Worker

__version__ = VERSION
__all__ = [
    "After",
    "AsyncClient",
    "CalendarRule",
    "CalendarWindow",
    "Cancel",
    "Client",
    "Context",
    "Cron",
    "Declined",
    "Delay",
    "Graph",
    "Http",
    "HttpOrigin",
    "Interval",
    "Keyed",
    "Listed",
    "Manual",
    "Misfire",
    "Once",
    "Policies",
    "PushOrigin",
    "Put",
    "Queue",
    "Retries",
    "Retry",
    "RetryPolicy",
    "Rolling",
    "Snooze",
    "Spread",
    "SqlOrigin",
    "Step",
    "Topic",
    "Unrecoverable",
    "Worker",
    "__version__",
    "errors",
    "models",
]
