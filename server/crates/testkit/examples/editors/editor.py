"""A small editor on ACP's official library of PyPI: python editor.py YOI DATA FOLDER"""

import asyncio
import sys
from contextlib import asynccontextmanager
from pathlib import Path

from acp import Client, text_block
from acp.schema import AllowedOutcome, RequestPermissionResponse
from acp.stdio import spawn_agent_process

YOI, DATA, FOLDER = sys.argv[1:]


class Editor(Client):
    """What the agent shows and asks."""

    def __init__(self):
        self.shown, self.asked = [], []

    async def session_update(self, session_id, update, **_):
        self.shown.append(update)

    async def request_permission(self, session_id, tool_call, options, **_):
        self.asked.append(tool_call)
        chosen = next(option for option in options if option.kind == "allow_once")
        outcome = AllowedOutcome(outcome="selected", option_id=chosen.option_id)
        return RequestPermissionResponse(outcome=outcome)

    def said(self, kind):
        updates = [update for update in self.shown if update.session_update == kind]
        return "".join(update.content.text for update in updates)

    async def until(self, holds):
        while not holds():
            await asyncio.sleep(0.02)


@asynccontextmanager
async def agent():
    editor = Editor()
    async with spawn_agent_process(editor, YOI, "acp", "--data", DATA) as (connection, _):
        about = await connection.initialize(protocol_version=1)
        assert about.protocol_version == 1 and about.agent_capabilities.load_session
        yield connection, editor


async def talk():
    async with agent() as (connection, editor):
        session = (await connection.new_session(cwd=FOLDER)).session_id
        done = await connection.prompt(session_id=session, prompt=[text_block("think hm\nsay hello")])
        assert done.stop_reason == "end_turn", done
        await editor.until(lambda: editor.said("agent_message_chunk") == "hello")
        assert editor.said("agent_thought_chunk") == "hm"

        write = 'call Write {"path":"of-pypi.txt","content":"one\\n"}'
        await connection.prompt(session_id=session, prompt=[text_block(write)])
        written = Path(FOLDER) / "of-pypi.txt"
        assert len(editor.asked) == 1 and written.read_text() == "one\n"
        written.unlink()
        changes = [update for update in editor.shown if update.session_update == "tool_call_update"]
        assert any(content.type == "diff" for update in changes for content in update.content or []), changes

        long = asyncio.create_task(
            connection.prompt(session_id=session, prompt=[text_block("say begun\nstream 100000 at 50")])
        )
        await editor.until(lambda: "begun" in editor.said("agent_message_chunk"))
        await connection.cancel(session_id=session)
        assert (await long).stop_reason == "cancelled"
        return session


async def load(session):
    async with agent() as (connection, editor):
        await connection.load_session(cwd=FOLDER, session_id=session)
        await editor.until(lambda: editor.said("user_message_chunk").startswith("think hm\nsay hello"))
        assert editor.said("agent_message_chunk").startswith("hello")
        listed = await connection.list_sessions(cwd=FOLDER)
        assert any(info.session_id == session for info in listed.sessions)


async def main():
    await asyncio.wait_for(load(await asyncio.wait_for(talk(), 120)), 120)


asyncio.run(main())
