"""The audit of fires: nothing is found where nothing is wrong, and every planted fault is named."""
