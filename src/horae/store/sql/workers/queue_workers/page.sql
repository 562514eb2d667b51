-- :tenant_id :queue :worker_id :after_queue :after_worker_id :polled_after :limit
-- A page of workers, after the last one's queue and id: of all queues, or of :queue if it is given; :worker_id is one id.
select w.tenant_id, w.queue, w.worker_id, w.since, w.polled_at, w.wanted, w.client, w.address, w.process,
       d.drained_at, d.drained_by, d.reason
from queue_worker w
left join worker_drain d on d.tenant_id = w.tenant_id and d.worker_id = w.worker_id
where w.tenant_id = :tenant_id and (w.queue, w.worker_id) > (:after_queue, :after_worker_id)
  and (:queue::text is null or w.queue = :queue)
  and (:worker_id::text is null or w.worker_id = :worker_id)
  and (:polled_after::timestamptz is null or w.polled_at > :polled_after)
order by w.queue, w.worker_id
limit :limit
