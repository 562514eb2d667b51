"""The methods of the blocking client. `horae_client.aio` is generated from these files."""
