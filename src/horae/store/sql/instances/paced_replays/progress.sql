-- :paced_replay_id :tenant_id
-- What became of its dead letters in this cell. Zero rows: it has none here.
select d.replay_status, coalesce(d.paced_refused, false) as refused, count(*)::int as many from dead_letter d
where d.paced_replay_id = :paced_replay_id and d.tenant_id = :tenant_id
group by d.replay_status, coalesce(d.paced_refused, false)
