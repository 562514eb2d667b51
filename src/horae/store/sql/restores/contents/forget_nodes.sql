-- Zero rows: no node was there. Those of the backup have ended, or belong to the lost history.
delete from node
