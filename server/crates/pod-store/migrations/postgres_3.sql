-- Two Pods that know each other: one row for both, so a one-sided link cannot be written down.
create table peers (
    low bigint not null,
    high bigint not null,
    by_whom text not null,
    since bigint not null,
    -- Thousandths of a message, as of pace_at.
    pace_level bigint not null,
    pace_at bigint not null,
    primary key (low, high),
    check (low < high)
);
create index peers_high on peers (high, low);

-- Two Pods of which one asked to know the other, and nobody has answered yet.
create table peer_requests (
    id text collate "C" primary key,
    low bigint not null,
    high bigint not null,
    asker bigint not null,
    note text,
    by_whom text not null,
    at bigint not null,
    expires_at bigint not null,
    unique (low, high),
    check (low < high and asker in (low, high))
);
create index peer_requests_high on peer_requests (high);

-- text: a JSON string, for a message may hold what a database cannot (NUL). Ids are ordered by their bytes.
create table messages (
    id text collate "C" primary key,
    sender bigint not null,
    receiver bigint not null,
    call_id text not null,
    text text not null,
    hops bigint not null,
    state text not null,
    turn bigint,
    at bigint not null,
    changed_at bigint not null,
    woke boolean not null,
    unique (sender, call_id)
);
create index messages_pair on messages (sender, receiver, at, id);
create index messages_receiver on messages (receiver, state);
create index messages_held on messages (sender) where state = 'held';
create index messages_woke on messages (receiver, at) where woke;
