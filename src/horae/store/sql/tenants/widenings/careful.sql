-- A long transaction makes us give up, not everybody behind us wait.
set local lock_timeout = '200ms'
