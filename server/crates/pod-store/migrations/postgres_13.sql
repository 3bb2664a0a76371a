-- Pictures and files beside conversations, each once, by the SHA-256 of what it holds.
create table blobs (
    id text collate "C" primary key,
    media_type text not null,
    bytes bigint not null,
    body bytea not null,
    created_at bigint not null
);
