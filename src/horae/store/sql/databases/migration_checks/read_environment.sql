-- No row: the first migration of this cell was broken off before it got its name.
select environment from cell
