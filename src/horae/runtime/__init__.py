"""What every room may lean on and what knows nothing of jobs: clock, loop, batch, settings, telemetry."""
