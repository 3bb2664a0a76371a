-- Pictures and files beside conversations, each once, by the SHA-256 of what it holds.
create table blobs (
    id text primary key,
    media_type text not null,
    bytes integer not null,
    body blob not null,
    created_at integer not null
);
