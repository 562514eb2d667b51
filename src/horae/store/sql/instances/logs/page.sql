-- :tenant_id :shard :instance_id :attempt :number :since :until :limit
-- Zero rows: nothing was logged after the mark in this cell, or its day is dropped.
select b.attempt, b.end_line - b.lines as first_line, b.body
from log_batch b
where b.shard_id = :shard and b.instance_id = :instance_id and b.tenant_id = :tenant_id
  and (b.attempt, b.end_line) > (:attempt::int, :number::bigint)
  and b.written_at >= :since and b.written_at <= :until
order by b.attempt, b.end_line
limit :limit
