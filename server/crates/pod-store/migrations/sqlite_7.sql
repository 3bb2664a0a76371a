-- A SQLite file is served by one host, so it needs no leases: this keeps the numbers of both databases alike.
select 1;
