"""Building blocks for every package, without knowledge of jobs: clock, loop, batch, settings, telemetry."""
