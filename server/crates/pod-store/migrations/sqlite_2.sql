-- A Pod that another one spawned, and what was lent to it last.
create table children (
    child integer primary key,
    parent integer not null,
    scope text not null,
    is_lent integer not null
);
create index children_parent on children (parent);

-- What was taken stays as a key without a body: what comes a second time is known, however late.
create table mail (
    id integer primary key autoincrement,
    pod integer not null,
    key text not null,
    body text not null,
    at integer not null,
    is_taken integer not null,
    unique (pod, key)
);
create index mail_waiting on mail (pod, id) where is_taken = 0;

create index journal_questions on journal (pod, seq) where class = 3;
