"""Incidents: what recovery does about them, and how far it is."""
