"""Why a process cannot listen on a port."""

import errno

from horae.domain.errors import Unavailable


def not_listening(host: str, port: int, error: OSError, advice: str, settings: str) -> Unavailable:
    """The refusal: `advice` is for a port that another program has; `settings` name the address."""
    where = f"port {port} of {host}"
    if error.errno == errno.EADDRINUSE:
        return Unavailable(f"{where} is in use by another program: {advice}")
    return Unavailable(f"cannot listen on {where}: {error.strerror or error} ({settings})")
