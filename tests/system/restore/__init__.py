"""Restores a cell for real: pgBackRest with the files of `deploy/pgbackrest`, over folders of a test."""
