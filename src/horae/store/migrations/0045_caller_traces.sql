-- migrate:up

-- The trace context of the request that set the time of a task: 25 bytes, only where the caller's trace is sampled.
alter table instance_live add column caller_trace bytea;

-- migrate:down
-- squawk-ignore ban-drop-column
alter table instance_live drop column caller_trace;
