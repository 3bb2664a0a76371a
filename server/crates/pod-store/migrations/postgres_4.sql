-- What was used: one row for each Pod and day (UTC). Pod 0 stands for all that were deleted.
create table usage_days (
    pod bigint not null,
    day text collate "C" not null,
    input bigint not null,
    cached bigint not null,
    output bigint not null,
    -- US dollars; null while nothing of it was priced.
    cost double precision,
    primary key (pod, day)
);

-- What runs used that a message between two Pods began, in both directions.
create table usage_links (
    low bigint not null,
    high bigint not null,
    runs bigint not null,
    input bigint not null,
    cached bigint not null,
    output bigint not null,
    cost double precision,
    primary key (low, high),
    check (low < high)
);
create index usage_links_high on usage_links (high);

-- The journals tell what was used before. A quote within a text is escaped, so nothing that was said looks like this;
-- and a damaged record is no reason to fail, so the figures are read from the text.
insert into usage_days (pod, day, input, cached, output, cost)
select pod, substring(body from '"at":"([0-9-]{10})'),
       sum(coalesce(substring(body from '"input":([0-9]{1,15})')::bigint, 0))::bigint,
       sum(coalesce(substring(body from '"cached":([0-9]{1,15})')::bigint, 0))::bigint,
       sum(coalesce(substring(body from '"output":([0-9]{1,15})')::bigint, 0))::bigint,
       sum(substring(body from '"cost":([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?)')::double precision)
from journal
where class = 2 and body like '%"event":{"kind":"usage"%' and body ~ '"at":"[0-9-]{10}'
group by 1, 2;
