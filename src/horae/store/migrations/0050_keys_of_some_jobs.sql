-- migrate:up

-- The labels that a job must have, so that a key may see and change it. Null: the key is not bound to any jobs.
alter table api_key add column job_labels jsonb;

-- migrate:down
-- squawk-ignore ban-drop-column
alter table api_key drop column job_labels;
