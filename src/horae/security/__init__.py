"""Security: permissions, credentials and encryption, as functions that know no table and no request.

Here live roles and their actions, API keys and cookies as text, CSRF tokens, the checks of ID tokens, data keys, the
keys that wrap them, and signed cursors.

Rows of keys and sessions live in `store`, logins and permission checks of a request in `service` and `api`, requests to
an issuer or a key engine in `delivery`. Row-level security is defined in the migrations of `store`.
"""
