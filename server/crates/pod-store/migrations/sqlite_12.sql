-- What was used, by model, and with what was written to a provider's cache: one row for each Pod, day (UTC) and model.
-- Pod 0 stands for all that were deleted. A cost is in millionths of a millionth of its currency; null while nothing of it
-- was priced.
create table usage (
    pod integer not null,
    day text not null,
    provider text not null,
    model text not null,
    input integer not null,
    cached integer not null,
    written integer not null,
    output integer not null,
    cost integer,
    primary key (pod, day, provider, model)
) without rowid;

-- No Pod's model could change until now. Of those that are gone it is not known any more.
insert into usage (pod, day, provider, model, input, cached, written, output, cost)
select used.pod, used.day, coalesce(case when json_valid(pods.spec) then pods.spec ->> '$.provider' end, ''),
       coalesce(case when json_valid(pods.spec) then pods.spec ->> '$.model' end, ''),
       used.input, used.cached, 0, used.output, cast(round(used.cost * 1e12) as integer)
from usage_days used left join pods on pods.key = used.pod;
drop table usage_days;

alter table usage_links add column written integer not null default 0;
alter table usage_links add column units integer;
update usage_links set units = cast(round(cost * 1e12) as integer);
alter table usage_links drop column cost;
alter table usage_links rename column units to cost;
