-- Those that go on by themselves after a usage limit are found without reading the others.
create index pods_limited on pods (key)
    where state = 'paused' and strpos(spec, '"auto_resume":true') > 0 and strpos(checkpoint, '"limit":{') > 0;
