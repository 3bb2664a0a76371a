-- What was used is counted by currency, as costs of several currencies make no sum. All before were US dollars.
create table usage_by_currency (
    pod integer not null,
    day text not null,
    provider text not null,
    model text not null,
    currency text not null,
    input integer not null,
    cached integer not null,
    written integer not null,
    output integer not null,
    cost integer,
    primary key (pod, day, provider, model, currency)
) without rowid;
insert into usage_by_currency (pod, day, provider, model, currency, input, cached, written, output, cost)
select pod, day, provider, model, 'USD', input, cached, written, output, cost from usage;
drop table usage;
alter table usage_by_currency rename to usage;

create table usage_links_by_currency (
    low integer not null,
    high integer not null,
    currency text not null,
    runs integer not null,
    input integer not null,
    cached integer not null,
    written integer not null,
    output integer not null,
    cost integer,
    primary key (low, high, currency),
    check (low < high)
) without rowid;
insert into usage_links_by_currency (low, high, currency, runs, input, cached, written, output, cost)
select low, high, 'USD', runs, input, cached, written, output, cost from usage_links;
drop table usage_links;
alter table usage_links_by_currency rename to usage_links;
create index usage_links_high on usage_links (high);

-- Which Pods' journals name a picture or a file: one that none names is not kept for ever.
create table blob_uses (
    blob text not null,
    pod integer not null,
    primary key (blob, pod)
) without rowid;
create index blob_uses_pod on blob_uses (pod);
insert into blob_uses (blob, pod)
select distinct blobs.id, journal.pod from blobs
join journal on journal.class <> 0 and instr(journal.body, '"blob":"' || blobs.id || '"') > 0;
