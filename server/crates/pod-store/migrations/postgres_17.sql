-- Rules that people gave for a folder or for the whole server. `rule` is JSON.
create table rules (
    id text primary key,
    rule text not null,
    given_by text not null,
    at bigint not null
);
