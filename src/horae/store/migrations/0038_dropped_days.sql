-- migrate:up

-- Up to which day history and events were dropped: what is older is gone, and whoever asks for it is told so.
create table dropped_day (
    dropped_at timestamptz not null,
    until_day date not null,
    parent text primary key check (parent in ('instance_history', 'outbox'))
);
grant select on dropped_day to horae_api, horae_engine, horae_relay, horae_readonly;

-- migrate:down
drop table dropped_day;
