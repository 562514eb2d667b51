"""PostgreSQL, in cells. One statement, one file under `sql/`; the path is the name of the function that runs it."""
