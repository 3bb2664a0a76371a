-- What was used is counted by currency, as costs of several currencies make no sum. All before were US dollars.
alter table usage add column currency text collate "C" not null default 'USD';
alter table usage drop constraint usage_pkey;
alter table usage add primary key (pod, day, provider, model, currency);

alter table usage_links add column currency text collate "C" not null default 'USD';
alter table usage_links drop constraint usage_links_pkey;
alter table usage_links add primary key (low, high, currency);

-- Which Pods' journals name a picture or a file: one that none names is not kept for ever.
create table blob_uses (
    blob text collate "C" not null,
    pod bigint not null,
    primary key (blob, pod)
);
create index blob_uses_pod on blob_uses (pod);
insert into blob_uses (blob, pod)
select distinct blobs.id, journal.pod from blobs
join journal on journal.class <> 0 and strpos(journal.body, '"blob":"' || blobs.id || '"') > 0;
