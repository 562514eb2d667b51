create table if not exists product (
    code text primary key,
    title text not null,
    quantity integer,
    counted_at timestamptz
);
-- Every quantity that was fetched, under the key of the refresh that fetched it: one refresh is one row, however often
-- its call came.
create table if not exists stock_history (
    idem_key text primary key,
    code text not null,
    quantity integer not null,
    at timestamptz not null default clock_timestamp()
);
create index if not exists stock_history_code on stock_history (code, at);
