"""What a person writes against a client that openapi-python-client has made: no shape is spelled out here, all come from it."""

import sys
import time

from yoi_client import AuthenticatedClient
from yoi_client.api.commands import input_
from yoi_client.api.journal import transcript
from yoi_client.api.pods import create, pod
from yoi_client.models import (
    CreatePod,
    ErrorCode,
    InputCommand,
    ListingRecord,
    MessageFinishedEvent,
    PodDetail,
    PodState,
    PodSummary,
    Problem,
    Receipt,
    Record,
    RunFinishedEvent,
    RunStartedEvent,
    SentTextSegment,
    SentTextSegmentType,
    TextSegment,
    UnknownEvent,
    UserMessageEvent,
)

WAIT_S_MAX = 60

base_url, token = sys.argv[1:]
client = AuthenticatedClient(base_url=base_url, token=token)

made = create.sync(client=client, body=CreatePod(name="pythia", provider="rehearsal"))
assert isinstance(made, PodSummary), made
place = (made.pod.runtime_id, made.pod.worker_id)

segment = SentTextSegment(text="say typed all the way", type_=SentTextSegmentType.TEXT)
receipt = input_.sync(*place, client=client, body=InputCommand(segments=[segment]))
assert isinstance(receipt, Receipt), receipt

deadline = time.monotonic() + WAIT_S_MAX
while True:
    records = transcript.sync(*place, client=client)
    assert isinstance(records, ListingRecord), records
    if any(isinstance(record.event, RunFinishedEvent) for record in records.items):
        break
    assert time.monotonic() < deadline, records
    time.sleep(0.02)

assert all(isinstance(record, Record) for record in records.items)
assert not any(isinstance(record.event, UnknownEvent) for record in records.items), records
said = [record.event for record in records.items if isinstance(record.event, UserMessageEvent)]
assert [segment.text for event in said for segment in event.segments if isinstance(segment, TextSegment)] == [
    "say typed all the way"
]
assert said[0].command_id == receipt.command_id
answers = [record.event for record in records.items if isinstance(record.event, MessageFinishedEvent)]
assert [(event.text, event.interrupted) for event in answers] == [("typed all the way", False)]
started = [record for record in records.items if isinstance(record.event, RunStartedEvent)]
assert started[0].run_id and started[0].at.tzinfo is not None

detail = pod.sync(*place, client=client)
assert isinstance(detail, PodDetail) and isinstance(detail.state, PodState), detail

refused = create.sync_detailed(client=client, body=CreatePod(name="pythia"))
assert refused.status_code == 409 and isinstance(refused.parsed, Problem), refused
assert refused.parsed.code is ErrorCode.NAME_TAKEN and refused.parsed.detail, refused
print("python is served")
