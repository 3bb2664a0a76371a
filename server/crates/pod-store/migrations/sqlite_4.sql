-- What was used: one row for each Pod and day (UTC). Pod 0 stands for all that were deleted.
create table usage_days (
    pod integer not null,
    day text not null,
    input integer not null,
    cached integer not null,
    output integer not null,
    -- US dollars; null while nothing of it was priced.
    cost real,
    primary key (pod, day)
) without rowid;

-- What runs used that a message between two Pods began, in both directions.
create table usage_links (
    low integer not null,
    high integer not null,
    runs integer not null,
    input integer not null,
    cached integer not null,
    output integer not null,
    cost real,
    primary key (low, high),
    check (low < high)
) without rowid;
create index usage_links_high on usage_links (high);

-- The journals tell what was used before. A quote within a text is escaped, so nothing that was said looks like this.
insert into usage_days (pod, day, input, cached, output, cost)
select pod, substr(body ->> '$.at', 1, 10), sum(coalesce(body ->> '$.event.input', 0)),
       sum(coalesce(body ->> '$.event.cached', 0)), sum(coalesce(body ->> '$.event.output', 0)),
       sum(body ->> '$.event.cost')
from journal
where class = 2 and body like '%"event":{"kind":"usage"%' and json_valid(body) and body ->> '$.at' is not null
group by 1, 2;
