"""A scripted model server for real agents: chat completions and OpenAI's responses, streamed. Its first line of output
is its port. A message with RUN asks for a command; what follows that word is the command line."""

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HELLO = "Hello from the scripted model."
DONE = "Done with it."


def deed(text, has_result):
    """Returns what the model does: it says something or runs a command."""
    if has_result:
        return DONE, None
    found = re.search(r"RUN `([^`]+)`", text)
    return (None, found.group(1)) if found else (HELLO, None)


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
        said, command = deed(text, messages[-1]["role"] == "tool")
        base = {"id": "c", "object": "chat.completion.chunk", "model": "m", "created": 1}
        choice = lambda delta, reason=None: {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        if command is None or not body.get("tools"):
            for word in (said or HELLO).split(" "):
                self.event(choice({"role": "assistant", "content": word + " "}))
            self.event(choice({}, "stop"))
        else:
            function = {"name": "bash", "arguments": json.dumps({"command": command, "description": "runs it"})}
            call = {"index": 0, "id": "call_1", "type": "function", "function": function}
            self.event(choice({"role": "assistant", "tool_calls": [call]}))
            self.event(choice({}, "tool_calls"))
        self.event({**base, "choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})
        self.event("[DONE]")

    def respond(self, body):
        items = body["input"] if isinstance(body["input"], list) else []
        asked = [item for item in items if item.get("role") == "user"]
        text = words_of(asked[-1]["content"]) if asked else ""
        said, command = deed(text, bool(items) and items[-1].get("type") == "function_call_output")
        self.event({"type": "response.created", "response": {"id": "r"}}, "response.created")
        if command is None:
            item = {"type": "message", "role": "assistant", "id": "m", "content": [{"type": "output_text", "text": said}]}
            opened = {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}}
            self.event(opened, opened["type"])
            for word in said.split(" "):
                delta = {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": word + " "}
                self.event(delta, delta["type"])
        else:
            names = [tool.get("name") for tool in body.get("tools", [])]
            name = next((name for name in ["shell_command", "exec_command", "shell"] if name in names), "shell")
            key = {"shell_command": "command", "exec_command": "cmd"}.get(name)
            arguments = {key: command} if key else {"command": ["bash", "-lc", command]}
            arguments |= {"sandbox_permissions": "require_escalated", "justification": "the script says so"}
            item = {"type": "function_call", "id": "f", "call_id": "call_1", "name": name, "arguments": json.dumps(arguments)}
        done = {"type": "response.output_item.done", "output_index": 0, "item": item}
        self.event(done, done["type"])
        usage = {"input_tokens": 10, "input_tokens_details": None, "output_tokens": 5, "output_tokens_details": None, "total_tokens": 15}
        self.event({"type": "response.completed", "response": {"id": "r", "usage": usage}}, "response.completed")


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(server.server_address[1], flush=True)
server.serve_forever()
