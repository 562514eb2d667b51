"""Sends messages about alerts to people: one module per vendor, and `AlertSender` in front of them.

1. A module builds the request of its vendor, signed by the vendor's published rule, and reads the vendor's answer.
2. `AlertSender` looks the named secrets up, sends through the egress rules, and raises where the message was not taken.
3. No message of an error contains a byte of a secret, of a hook's URL or of what the vendor answered.
"""
