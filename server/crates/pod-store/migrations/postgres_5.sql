-- What a person has to know of a login before ending it.
alter table sessions add column client text not null default '';
alter table sessions add column created_at bigint not null default 0;
alter table sessions add column seen_at bigint not null default 0;
-- Logins lasted 30 days, so the beginning of an older one follows from its end. Nobody noted when it was seen since.
update sessions set created_at = expires_at - 2592000000000, seen_at = expires_at - 2592000000000;

create index audit_target on audit (target, id);
