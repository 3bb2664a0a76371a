-- Over place, class and body of a record. Absent for what was written before: that is only looked at for being JSON.
alter table journal add column sum integer;
-- What was found to be wrong with it.
alter table quarantine add column reason text not null default 'it is not JSON';
