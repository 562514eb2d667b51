"""Drills: break something on purpose, measure, take the way back, and write a signed report.

A guardian process is started first and knows the way back before anything breaks. It takes that way when the drill
asks for it, when the drill is gone, or when the time limit has passed (`guardian.py`).
"""
