create table meta (
    one smallint primary key check (one = 1),
    version integer not null,
    store_id text not null,
    host_epoch bigint not null
);

create table pods (
    key bigint generated always as identity primary key,
    worker_id text not null constraint pods_worker_id unique,
    name text not null constraint pods_name unique,
    created_at bigint not null,
    updated_at bigint not null,
    state text not null,
    open boolean not null,
    spec text not null,
    checkpoint text not null,
    checkpoint_seq bigint not null,
    unread bigint not null
);
create index pods_open on pods (key) where open;

create table journal (
    pod bigint not null,
    seq bigint not null,
    class smallint not null,
    body text not null,
    primary key (pod, seq)
);
-- Chunks, which are most of the rows while they live, are not in it.
create index journal_turns on journal (pod, seq) where class = 1;

create table quarantine (
    pod bigint not null,
    seq bigint not null,
    body text not null,
    found_at bigint not null,
    primary key (pod, seq)
);

create table inbox (
    id bigint generated always as identity primary key,
    pod bigint not null,
    command_id text not null,
    segments text not null,
    by_whom text not null,
    at bigint not null,
    unique (pod, command_id)
);

create table commands (
    id text primary key,
    fingerprint bytea not null,
    answer text not null,
    at bigint not null
);

create table sessions (
    hash bytea primary key,
    expires_at bigint not null
);

create table audit (
    id bigint generated always as identity primary key,
    at bigint not null,
    by_whom text not null,
    client text not null,
    action text not null,
    target text,
    result text not null,
    code text
);

create table search_texts (
    id bigint generated always as identity primary key,
    pod bigint not null,
    seq bigint not null,
    kind text not null,
    text text not null,
    words tsvector not null
);
create index search_texts_pod on search_texts (pod);
create index search_texts_words on search_texts using gin (words);
