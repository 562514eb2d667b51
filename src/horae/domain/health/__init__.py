"""The health of a cell and of a tenant: signals, and the checks of `horae doctor`."""
