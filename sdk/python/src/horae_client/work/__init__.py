"""The inside of a worker: what it holds, how it pulls, beats, runs and reports. `horae_client.worker` is its face."""
