-- What a row is about beyond its target, as JSON: a tool's call, and how a person answered it.
alter table audit add column about text;
