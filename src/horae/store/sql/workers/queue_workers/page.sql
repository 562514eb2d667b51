-- :tenant_id :queue :after_queue :after_worker_id :polled_after :limit
-- A page of workers, after the last one's queue and id: of all queues, or of :queue if it is given.
select w.tenant_id, w.queue, w.worker_id, w.since, w.polled_at, w.wanted, w.client, w.address, w.process
from queue_worker w
where w.tenant_id = :tenant_id and (w.queue, w.worker_id) > (:after_queue, :after_worker_id)
  and (:queue::text is null or w.queue = :queue)
  and (:polled_after::timestamptz is null or w.polled_at > :polled_after)
order by w.queue, w.worker_id
limit :limit
