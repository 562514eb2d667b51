"""Certificates of tenants' days: make them, sign them, and export them with their evidence."""
