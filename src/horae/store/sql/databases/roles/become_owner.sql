-- What this session creates from now on belongs to the owner.
set role "{owner}"
