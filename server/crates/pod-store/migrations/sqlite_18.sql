-- What is noted on a Pod's changes and not sent yet: JSON of a `protocol::ReviewDrafts`.
alter table pods add column drafts text;
