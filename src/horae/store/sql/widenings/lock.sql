-- Waits until every transaction that read the table has ended; those that come wait for us.
lock table widening in access exclusive mode
