-- Tasks and subjects that were added in your own transactions and are still to be forwarded. A relay takes rows away.
-- One that can never be forwarded stays, with the reason.
create table if not exists horae_outbox (
    id bigint generated always as identity primary key,
    token varchar(64) not null unique,
    verb varchar(10) not null check (verb in ('schedule', 'cancel', 'add', 'remove')),
    type varchar(120) not null,
    task_key varchar(200) not null,
    body text not null,
    added_at timestamptz not null default now(),
    refused varchar(2000)
);
create index if not exists horae_outbox_waiting on horae_outbox (id) where refused is null;
