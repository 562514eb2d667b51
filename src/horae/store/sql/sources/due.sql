-- Sources with something to do now, the longest due first, of each tenant no more than $3; zero rows: none has. A paused
-- one has dry rounds only.
select d.* from (
    select s.*, row_number() over (partition by s.tenant_id order by s.next_at, s.id) as place from source s
    where s.next_at <= $1
      and (s.paused_at is null or s.asked = 'dry' or (s.asked is null and s.running and s.dry))
      and not exists (select from shard f where f.shard_id = s.shard_id and f.state <> 'ACTIVE')) d
where d.place <= $3
order by d.next_at
limit $2
