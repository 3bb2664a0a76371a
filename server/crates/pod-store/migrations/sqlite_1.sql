create table meta (
    one integer primary key check (one = 1),
    store_id text not null,
    host_epoch integer not null
);

-- autoincrement: a key is never given to a second Pod.
create table pods (
    key integer primary key autoincrement,
    worker_id text not null unique,
    name text not null unique,
    created_at integer not null,
    updated_at integer not null,
    state text not null,
    open integer not null,
    spec text not null,
    checkpoint text not null,
    checkpoint_seq integer not null,
    unread integer not null
);
create index pods_open on pods (key) where open = 1;

create table journal (
    pod integer not null,
    seq integer not null,
    class integer not null,
    body text not null,
    primary key (pod, seq)
) without rowid;
-- Chunks, which are most of the rows while they live, are not in it.
create index journal_turns on journal (pod, seq) where class = 1;

create table quarantine (
    pod integer not null,
    seq integer not null,
    body blob not null,
    found_at integer not null,
    primary key (pod, seq)
) without rowid;

create table inbox (
    id integer primary key autoincrement,
    pod integer not null,
    command_id text not null,
    segments text not null,
    by_whom text not null,
    at integer not null,
    unique (pod, command_id)
);

create table commands (
    id text primary key,
    fingerprint blob not null,
    answer text not null,
    at integer not null
) without rowid;

create table sessions (
    hash blob primary key,
    expires_at integer not null
) without rowid;

create table audit (
    id integer primary key autoincrement,
    at integer not null,
    by_whom text not null,
    client text not null,
    action text not null,
    target text,
    result text not null,
    code text
);

create table search_texts (
    id integer primary key,
    pod integer not null,
    seq integer not null,
    kind text not null,
    text text not null
);
create index search_texts_pod on search_texts (pod);
create virtual table search_words using fts5 (
    text, content = 'search_texts', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 0'
);
create trigger search_texts_insert after insert on search_texts begin
    insert into search_words (rowid, text) values (new.id, new.text);
end;
create trigger search_texts_delete after delete on search_texts begin
    insert into search_words (search_words, rowid, text) values ('delete', old.id, old.text);
end;
