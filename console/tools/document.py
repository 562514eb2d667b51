"""The OpenAPI document on standard output, from the code alone: no server, no database."""

import json
import sys
from unittest.mock import Mock

from horae.api.app import make
from horae.api.gate import Gate


async def nobody() -> list[object]:
    """Nobody is asked while the document is written."""
    return []


json.dump(make(Mock(spec=Gate), nobody).openapi(), sys.stdout, indent=1, sort_keys=True)
