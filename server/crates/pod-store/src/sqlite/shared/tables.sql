-- What PostgreSQL has for several hosts, for a SQLite file that stands for a shared database in tests. Beside it, a log
-- of who wrote and owned what, which the tests read.
create table hosts (
    id integer primary key autoincrement,
    uid text not null,
    name text not null,
    heartbeat_at integer not null
);
create table host_marks (host integer primary key, mark integer not null);
create table host_calls (
    id integer primary key,
    host integer not null,
    caller integer not null,
    body text not null,
    is_taken integer not null default 0,
    answer text,
    at integer not null
);
create table pods_gone (worker_id text primary key, changed integer not null);
-- Counts transactions that change rows of Pods.
create table changes (one integer primary key, count integer not null);
insert into changes values (1, 0);
create table lease_log (
    n integer primary key autoincrement,
    event text not null,
    host integer not null,
    pod integer,
    seq integer,
    owner integer
);

alter table pods add column owner integer;
alter table pods add column home text;
alter table pods add column changed integer not null default 0;

create trigger pods_change_made after insert on pods begin
    update changes set count = count + 1;
    update pods set changed = (select count from changes) where key = new.key;
end;
create trigger pods_change after update of
    name, spec, state, open, checkpoint, checkpoint_seq, updated_at, unread, drafts, owner on pods begin
    update changes set count = count + 1;
    update pods set changed = (select count from changes) where key = new.key;
end;
create trigger pods_change_gone after delete on pods begin
    update changes set count = count + 1;
    insert or replace into pods_gone values (old.worker_id, (select count from changes));
end;

create trigger hosts_join after insert on hosts begin
    insert into host_marks values (new.id, 0);
    insert into lease_log (event, host) values ('joined', new.id);
end;
create trigger hosts_end after delete on hosts begin
    delete from host_marks where host = old.id;
    insert into lease_log (event, host) values ('gone', old.id);
end;
create trigger pods_taken after update of owner on pods when new.owner is not null and new.owner is not old.owner begin
    insert into lease_log (event, host, pod) values ('took', new.owner, new.key);
end;
