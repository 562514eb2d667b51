"""Someone asked: each verb is one transaction that changes state and leaves its event and its audit row."""
