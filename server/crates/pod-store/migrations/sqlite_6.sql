-- Pods that know a Pod of another store, and what the two stores tell each other.

-- Positions of the line to another store: the last item put out, the last one that it has taken, the last one of its
-- that was taken in here.
create table far_stores (
    store text primary key,
    out_seq integer not null,
    acked integer not null,
    in_seq integer not null,
    -- What it was called here last.
    name text
) without rowid;

-- Items that the other store has not taken yet. body: JSON.
create table far_out (
    store text not null,
    seq integer not null,
    body text not null,
    primary key (store, seq)
) without rowid;

-- What a Pod here is to a Pod there. told: the card of this Pod that the other store was told last.
create table far_peers (
    pod integer not null,
    store text not null,
    worker text not null,
    handshake text not null,
    state text not null,
    note text,
    by_whom text not null,
    since integer not null,
    expires_at integer,
    pace_level integer not null,
    pace_at integer not null,
    told text not null,
    primary key (pod, store, worker)
) without rowid;
create unique index far_peers_handshake on far_peers (store, handshake);
create index far_peers_expires on far_peers (expires_at) where expires_at is not null;

-- What another store said of one of its Pods last. body: JSON.
create table far_cards (
    store text not null,
    worker text not null,
    body text not null,
    at integer not null,
    primary key (store, worker)
) without rowid;

-- text: a JSON string, for a message may hold what a database cannot (NUL).
create table far_messages (
    pod integer not null,
    id text not null,
    store text not null,
    worker text not null,
    is_outgoing integer not null,
    call_id text,
    text text not null,
    hops integer not null,
    state text not null,
    turn integer,
    reason text,
    at integer not null,
    changed_at integer not null,
    woke integer not null,
    primary key (pod, id),
    unique (pod, call_id)
) without rowid;
create index far_messages_pair on far_messages (pod, store, worker, at, id);
create index far_messages_woke on far_messages (pod, at) where woke = 1;
