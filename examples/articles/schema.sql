-- An article's row is the truth about it. `version` counts what its author wanted: Horae is told it with every time, so
-- that what arrives out of order is known as old.
create table if not exists article (
    id text collate "C" primary key default gen_random_uuid()::text,
    title text not null,
    body text not null,
    status text not null default 'PENDING_AUDIT'
        check (status in ('PENDING_AUDIT', 'AUDIT_SUCCESS', 'AUDIT_FAIL', 'PUBLISHED')),
    publish_time timestamptz not null,
    version integer not null default 1,
    submitted_at timestamptz not null default clock_timestamp(),
    audited_at timestamptz
);
-- What should be pending, in the order of keys: the page that Horae's source asks for.
create index if not exists article_pending on article (id, status) where status in ('PENDING_AUDIT', 'AUDIT_SUCCESS');

-- What readers see. Nothing here forbids a second row for an article: that it never comes is the state machine's work.
create table if not exists feed (
    article_id text not null references article,
    published_at timestamptz not null default clock_timestamp()
);
create index if not exists feed_article on feed (article_id);
