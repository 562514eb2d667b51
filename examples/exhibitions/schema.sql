-- The business's own tables. What Horae's client needs beside them (outbox, effects) is made by its own statements.
create table if not exists exhibition (
    id bigint generated always as identity primary key,
    title text not null,
    status text not null default 'PENDING' check (status in ('PENDING', 'APPROVED', 'ENROLLING')),
    registration_start timestamptz not null,
    enrolling_since timestamptz
);
create table if not exists reservation (
    exhibition_id bigint not null references exhibition,
    visitor text not null,
    notified_at timestamptz,
    primary key (exhibition_id, visitor)
);
