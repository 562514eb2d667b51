"""The certificate of a tenant's day: what became of every fire that should exist."""
