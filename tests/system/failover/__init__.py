"""One cell as a Patroni cluster of three members, and what failover does to everything above it."""
