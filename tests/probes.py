"""The listeners for probes of the processes that tests start: none, unless a test asks for one."""

from typing import Final

NO_PROBES: Final = {"HORAE_NODE_MONITORING_PORT": "0", "HORAE_API_MONITORING_PORT": "0"}
