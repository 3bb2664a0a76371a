-- What was used is counted by currency, as costs of several currencies make no sum. All before were US dollars.
alter table usage add column currency text collate "C" not null default 'USD';
alter table usage drop constraint usage_pkey;
alter table usage add primary key (pod, day, provider, model, currency);

alter table usage_links add column currency text collate "C" not null default 'USD';
alter table usage_links drop constraint usage_links_pkey;
alter table usage_links add primary key (low, high, currency);
