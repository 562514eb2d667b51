"""Wires the program: settings become objects, the command line becomes calls of the service."""
