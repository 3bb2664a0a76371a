-- The number of the newest group of changes that each host has committed, written with them. A host whose commit was cut
-- off finds here whether it was written.
create table host_marks (
    host bigint primary key references hosts (id) on delete cascade,
    mark bigint not null
);
insert into host_marks (host, mark) select id, 0 from hosts;
