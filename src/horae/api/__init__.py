"""The doors: HTTP becomes our types, and back. Everything behind them is `service`."""
