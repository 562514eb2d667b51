"""One file per noun; each command is a verb of the service with its answer printed."""
