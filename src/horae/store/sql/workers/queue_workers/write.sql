-- :tenant_ids :queues :worker_ids :polled_times :wanted_counts :clients :addresses :process :window
-- Zero rows: nobody is new. A row that another API process has renewed since stays as it is.
with written as (
    insert into queue_worker as w (tenant_id, queue, worker_id, since, polled_at, wanted, client, address, process)
    select n.tenant_id, n.queue, n.worker_id, n.polled_at, n.polled_at, n.wanted, n.client, n.address, :process
    from unnest(:tenant_ids::uuid[], :queues::text[], :worker_ids::text[], :polled_times::timestamptz[],
                :wanted_counts::int[], :clients::text[], :addresses::text[])
         as n(tenant_id, queue, worker_id, polled_at, wanted, client, address)
    on conflict (tenant_id, queue, worker_id) do update
    set since = case when excluded.polled_at - w.polled_at > :window then excluded.since else w.since end,
        polled_at = excluded.polled_at, wanted = excluded.wanted, client = excluded.client,
        address = excluded.address, process = excluded.process
    where excluded.polled_at > w.polled_at
    returning w.tenant_id, w.since = w.polled_at as is_new)
select distinct tenant_id from written where is_new
