"""The verbs, for programs that wait. `horae_client.aio` is made from these files."""
