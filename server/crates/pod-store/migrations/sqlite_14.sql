-- Those that go on by themselves after a usage limit are found without reading the others.
create index pods_limited on pods (key)
    where state = 'paused' and instr(spec, '"auto_resume":true') > 0 and instr(checkpoint, '"limit":{') > 0;
