"""The databases behind the cells: their clocks."""
