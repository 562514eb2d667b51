"""What the fuzzer leaves alone: the key it comes with, and time: no poll of its own waits."""

import os
from typing import Any

import schemathesis

OWN = os.environ["FUZZ_OWN_KEY"]


@schemathesis.hook
def before_call(_context: Any, case: Any, _kwargs: Any) -> None:
    """A request about the fuzzer's own key becomes one about a key that nobody has; a poll that may wait does not."""
    for name, value in (case.path_parameters or {}).items():
        if value == OWN:
            case.path_parameters[name] = OWN[:-1] + ("0" if OWN[-1] != "0" else "1")
    if case.operation.path.endswith("/workers/poll") and isinstance(case.body, dict):
        wait = case.body.get("wait")
        if isinstance(wait, int | float) and not isinstance(wait, bool) and 0 <= wait <= 60:
            case.body["wait"] = 0
