set local lock_timeout = '1s'
