-- Whether some of it was estimated, as its provider did not count it. Of what was used before nobody knows.
alter table usage add column estimated bigint not null default 0;
alter table usage_links add column estimated bigint not null default 0;
