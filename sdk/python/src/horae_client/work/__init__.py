"""The internals of a worker: claims, heartbeats, handlers and reports. `horae_client.worker` is its public module."""
