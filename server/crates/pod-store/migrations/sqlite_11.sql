-- Those that are not stopped are counted without reading the others.
create index pods_living on pods (key) where state <> 'stopped';
