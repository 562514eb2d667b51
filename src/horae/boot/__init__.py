"""Chooses and wires: settings become objects, the command line becomes verbs."""
