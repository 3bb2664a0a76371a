"""A scripted model server for real agents: chat completions and OpenAI's responses, streamed. Its first line of output
is its port. A message with RUN `COMMAND` asks for a command, one with WRITE `PATH` `TEXT` for a new file, and one with
EDIT `PATH` `OLD` `NEW` for a change of a line."""

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HELLO = "Hello from the scripted model."
DONE = "Done with it."


def deed(text, has_result):
    """Returns what the model does: it says something, runs a command, or changes a file (its path and its texts)."""
    if has_result:
        return DONE, None, None
    command = re.search(r"RUN `([^`]+)`", text)
    file = re.search(r"(?:WRITE|EDIT) `([^`]+)` `([^`]+)`(?: `([^`]+)`)?", text)
    said = None if command or file else HELLO
    return said, command and command.group(1), file and file.groups()


def patch(file):
    """A change as Codex writes it."""
    path, text, new = file
    change = f"*** Update File: {path}\n@@\n-{text}\n+{new}" if new else f"*** Add File: {path}\n+{text}"
    return f"*** Begin Patch\n{change}\n*** End Patch"


def words_of(content):
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if isinstance(part, dict))


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def do_GET(self):
        body = json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        (self.chat if "chat" in self.path else self.respond)(body)

    def event(self, data, name=None):
        if name:
            self.wfile.write(f"event: {name}\n".encode())
        text = data if isinstance(data, str) else json.dumps(data)
        self.wfile.write(f"data: {text}\n\n".encode())
        self.wfile.flush()

    def chat(self, body):
        messages = body["messages"]
        asked = [message for message in messages if message["role"] == "user"]
        text = words_of(asked[-1]["content"]) if asked else ""
        said, command, file = deed(text, messages[-1]["role"] == "tool")
        base = {"id": "c", "object": "chat.completion.chunk", "model": "m", "created": 1}
        choice = lambda delta, reason=None: {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        if said or not body.get("tools"):
            for word in (said or HELLO).split(" "):
                self.event(choice({"role": "assistant", "content": word + " "}))
            self.event(choice({}, "stop"))
        else:
            bash = {"command": command, "description": "runs it"}
            name, arguments = "bash", bash
            if file and file[2]:
                name, arguments = "edit", {"filePath": file[0], "oldString": file[1], "newString": file[2]}
            elif file:
                name, arguments = "write", {"filePath": file[0], "content": file[1]}
            function = {"name": name, "arguments": json.dumps(arguments)}
            call = {"index": 0, "id": "call_1", "type": "function", "function": function}
            self.event(choice({"role": "assistant", "tool_calls": [call]}))
            self.event(choice({}, "tool_calls"))
        self.event({**base, "choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})
        self.event("[DONE]")

    def respond(self, body):
        items = body["input"] if isinstance(body["input"], list) else []
        asked = [item for item in items if item.get("role") == "user"]
        text = words_of(asked[-1]["content"]) if asked else ""
        outputs = ["function_call_output", "custom_tool_call_output"]
        said, command, file = deed(text, bool(items) and items[-1].get("type") in outputs)
        self.event({"type": "response.created", "response": {"id": "r"}}, "response.created")
        names = [tool.get("name") for tool in body.get("tools", [])]
        if said:
            item = {"type": "message", "role": "assistant", "id": "m", "content": [{"type": "output_text", "text": said}]}
            opened = {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}}
            self.event(opened, opened["type"])
            for word in said.split(" "):
                delta = {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": word + " "}
                self.event(delta, delta["type"])
        elif file and "apply_patch" in names:
            call = {"id": "f", "call_id": "call_1", "name": "apply_patch", "input": patch(file)}
            item = {"type": "custom_tool_call", **call}
        else:
            if file:
                command = f"apply_patch <<'EOF'\n{patch(file)}\nEOF"
            name = next((name for name in ["shell_command", "exec_command", "shell"] if name in names), "shell")
            key = {"shell_command": "command", "exec_command": "cmd"}.get(name)
            arguments = {key: command} if key else {"command": ["bash", "-lc", command]}
            if not file:
                arguments |= {"sandbox_permissions": "require_escalated", "justification": "the script says so"}
            item = {"type": "function_call", "id": "f", "call_id": "call_1", "name": name, "arguments": json.dumps(arguments)}
        done = {"type": "response.output_item.done", "output_index": 0, "item": item}
        self.event(done, done["type"])
        usage = {"input_tokens": 10, "input_tokens_details": None, "output_tokens": 5, "output_tokens_details": None, "total_tokens": 15}
        self.event({"type": "response.completed", "response": {"id": "r", "usage": usage}}, "response.completed")


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(server.server_address[1], flush=True)
server.serve_forever()
