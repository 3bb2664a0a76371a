-- A Pod that another one spawned, and what was lent to it last.
create table children (
    child bigint primary key,
    parent bigint not null,
    scope text not null,
    is_lent boolean not null
);
create index children_parent on children (parent, child);

-- What was taken stays as a key without a body: what comes a second time is known, however late.
create table mail (
    id bigint generated always as identity primary key,
    pod bigint not null,
    key text not null,
    body text not null,
    at bigint not null,
    is_taken boolean not null,
    unique (pod, key)
);
create index mail_waiting on mail (pod, id) where not is_taken;

create index journal_questions on journal (pod, seq) where class = 3;
