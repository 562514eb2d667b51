-- Waits until every transaction that made a name or a key has ended; those that come wait for us. Making statements
-- read the table `for key share`, which this lock excludes. Who only reads, as pg_dump does, waits for nobody and
-- nobody for it.
lock table widening in exclusive mode
