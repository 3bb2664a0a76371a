-- The hosts that serve this database now. A host's number is its lease on all the Pods that it owns: whoever declares it
-- dead deletes the row, and each commit of the host looks for it. A number is never used again.
create table hosts (
    id bigint generated always as identity primary key,
    -- Who this is, over restarts: a host that starts again replaces the one that it was.
    uid text not null,
    name text not null,
    heartbeat_at timestamptz not null
);

-- owner: the host that runs it; null while nobody does. home: the name of the one that ran it last, and so has its files.
alter table pods add column owner bigint;
alter table pods add column home text;
-- The transaction that changed the row last, so that other hosts find what they have not seen.
alter table pods add column changed xid8 not null default pg_current_xact_id();
create index pods_owner on pods (owner) where owner is not null;
create index pods_changed on pods (changed);

-- Deleted Pods, for an hour: lists on other hosts let go of them.
create table pods_gone (
    worker_id text primary key,
    changed xid8 not null default pg_current_xact_id(),
    at timestamptz not null default now()
);

-- What one host asks of another one. Lost with the database's memory: nobody waits longer than for a short time.
create unlogged table host_calls (
    id bigint generated always as identity primary key,
    host bigint not null,
    caller bigint not null,
    body text not null,
    is_taken boolean not null default false,
    answer text,
    at timestamptz not null default now()
);
create index host_calls_waiting on host_calls (host, id) where not is_taken;
create index host_calls_answered on host_calls (caller) where answer is not null;
