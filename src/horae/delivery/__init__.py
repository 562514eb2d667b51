"""Delivery: how Horae reaches systems outside of its own database.

Here live the HTTP client (names, TLS, connections, parsing), the requests of attempts and of webhooks, their auth and
signatures, the brokers, the OpenID issuer and the transit key engine.

What an answer means lives in `domain.targets.answers` and `domain.instances.outcomes`. When a call may leave (limits,
breakers) lives in `engine`. PostgreSQL, also the PostgreSQL of an SQL source, belongs to `store`.
"""
