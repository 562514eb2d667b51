-- Tasks and subjects that were added in your own transactions and are still to be forwarded. A relay takes rows away.
-- One that can never be forwarded stays, with the reason.
create table if not exists horae_outbox (
    id bigint not null auto_increment primary key,
    token varchar(64) character set ascii not null unique,
    verb varchar(10) character set ascii not null check (verb in ('schedule', 'cancel', 'add', 'remove')),
    type varchar(120) not null,
    task_key varchar(200) not null,
    body mediumtext not null,
    added_at timestamp(6) not null default current_timestamp(6),
    refused varchar(2000)
) engine = InnoDB default character set utf8mb4;
