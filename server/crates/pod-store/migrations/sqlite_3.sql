-- Two Pods that know each other: one row for both, so a one-sided link cannot be written down.
create table peers (
    low integer not null,
    high integer not null,
    by_whom text not null,
    since integer not null,
    -- Thousandths of a message, as of pace_at.
    pace_level integer not null,
    pace_at integer not null,
    primary key (low, high),
    check (low < high)
) without rowid;
create index peers_high on peers (high, low);

-- Two Pods of which one asked to know the other, and nobody has answered yet.
create table peer_requests (
    id text primary key,
    low integer not null,
    high integer not null,
    asker integer not null,
    note text,
    by_whom text not null,
    at integer not null,
    expires_at integer not null,
    unique (low, high),
    check (low < high and asker in (low, high))
) without rowid;
create index peer_requests_high on peer_requests (high);

-- text: a JSON string, for a message may hold what a database cannot (NUL).
create table messages (
    id text primary key,
    sender integer not null,
    receiver integer not null,
    call_id text not null,
    text text not null,
    hops integer not null,
    state text not null,
    turn integer,
    at integer not null,
    changed_at integer not null,
    woke integer not null,
    unique (sender, call_id)
);
create index messages_pair on messages (sender, receiver, at, id);
create index messages_receiver on messages (receiver, state);
create index messages_held on messages (sender) where state = 'held';
create index messages_woke on messages (receiver, at) where woke = 1;
