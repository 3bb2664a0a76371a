-- Found without reading the others: Pods with rules of their own, and those that may have asked a person.
-- A quote within a text is escaped, so nothing but the field itself looks like this.
create index pods_with_rules on pods (key) where instr(spec, '"permissions":[{') > 0;
create index pods_halted on pods (key) where state in ('waiting', 'paused');
