-- Pods that know a Pod of another store, and what the two stores tell each other.

-- Positions of the line to another store: the last item put out, the last one that it has taken, the last one of its
-- that was taken in here.
create table far_stores (
    store text collate "C" primary key,
    out_seq bigint not null,
    acked bigint not null,
    in_seq bigint not null,
    -- What it was called here last.
    name text
);

-- Items that the other store has not taken yet. body: JSON.
create table far_out (
    store text collate "C" not null,
    seq bigint not null,
    body text not null,
    primary key (store, seq)
);

-- What a Pod here is to a Pod there. told: the card of this Pod that the other store was told last.
create table far_peers (
    pod bigint not null,
    store text collate "C" not null,
    worker text collate "C" not null,
    handshake text not null,
    state text not null,
    note text,
    by_whom text not null,
    since bigint not null,
    expires_at bigint,
    pace_level bigint not null,
    pace_at bigint not null,
    told text not null,
    primary key (pod, store, worker)
);
create unique index far_peers_handshake on far_peers (store, handshake);
create index far_peers_expires on far_peers (expires_at) where expires_at is not null;

-- What another store said of one of its Pods last. body: JSON.
create table far_cards (
    store text collate "C" not null,
    worker text collate "C" not null,
    body text not null,
    at bigint not null,
    primary key (store, worker)
);

-- text: a JSON string, for a message may hold what a database cannot (NUL).
create table far_messages (
    pod bigint not null,
    id text collate "C" not null,
    store text collate "C" not null,
    worker text collate "C" not null,
    is_outgoing boolean not null,
    call_id text,
    text text not null,
    hops bigint not null,
    state text not null,
    turn bigint,
    reason text,
    at bigint not null,
    changed_at bigint not null,
    woke boolean not null,
    primary key (pod, id),
    unique (pod, call_id)
);
create index far_messages_pair on far_messages (pod, store, worker, at, id);
create index far_messages_woke on far_messages (pod, at) where woke;
