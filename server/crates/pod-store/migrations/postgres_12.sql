-- What was used, by model, and with what was written to a provider's cache: one row for each Pod, day (UTC) and model.
-- Pod 0 stands for all that were deleted. A cost is in millionths of a millionth of its currency; null while nothing of it
-- was priced.
create table usage (
    pod bigint not null,
    day text collate "C" not null,
    provider text collate "C" not null,
    model text collate "C" not null,
    input bigint not null,
    cached bigint not null,
    written bigint not null,
    output bigint not null,
    cost bigint,
    primary key (pod, day, provider, model)
);

-- No Pod's model could change until now. Of those that are gone it is not known any more. The names are read from the text:
-- a damaged recipe is no reason to fail.
insert into usage (pod, day, provider, model, input, cached, written, output, cost)
select used.pod, used.day, coalesce(substring(pods.spec from '"provider":"([^"\\]*)"'), ''),
       coalesce(substring(pods.spec from '"model":"([^"\\]*)"'), ''),
       used.input, used.cached, 0, used.output, round(used.cost * 1e12)::bigint
from usage_days used left join pods on pods.key = used.pod;
drop table usage_days;

alter table usage_links add column written bigint not null default 0;
alter table usage_links alter column cost type bigint using round(cost * 1e12)::bigint;
