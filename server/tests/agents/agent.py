"""An agent that does what it is told: the first word of a message says what to do. It speaks the Agent Client Protocol
and keeps its sessions in the folder AGENT_STATE, where it also writes down what it was asked."""

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

STATE = Path(os.environ["AGENT_STATE"])
CANNOT_LOAD = os.environ.get("AGENT_CANNOT_LOAD") == "1"
TAKES_HTTP = os.environ.get("AGENT_WITHOUT_HTTP") != "1"
MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}
MODELS = {"currentModelId": "small", "availableModels": [{"modelId": "small", "name": "Small"}, {"modelId": "large", "name": "Large"}]}

lock = threading.Lock()
answers = {}
counts = {"id": 0}
cancelled = threading.Event()
servers = []


def send(message):
    with lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def note(line):
    with open(STATE / "log", "a") as log:
        log.write(line + "\n")


def ask(method, params):
    with lock:
        counts["id"] += 1
        ident = counts["id"]
    answer = answers[ident] = queue.Queue()
    send({"id": ident, "method": method, "params": params})
    # Not looked up again: the answer may have arrived already.
    return answer.get()


def update(session, what, **fields):
    send({"method": "session/update", "params": {"sessionId": session, "update": {"sessionUpdate": what, **fields}}})


def say(session, text):
    update(session, "agent_message_chunk", content={"type": "text", "text": text})
    remember(session, "agent", text)


def remember(session, who, text):
    with open(STATE / session, "a") as history:
        history.write(json.dumps([who, text]) + "\n")


def tool(session, rest):
    call = {"toolCallId": "call_1", "title": "Remove all", "kind": "execute", "rawInput": {"command": "rm -rf all"}}
    update(session, "tool_call", status="pending", **call)
    options = [
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "always", "name": "Always", "kind": "allow_always"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]
    answer = ask("session/request_permission", {"sessionId": session, "toolCall": call, "options": options})
    outcome = answer["result"]["outcome"]
    if outcome["outcome"] == "cancelled":
        return
    chosen = outcome["optionId"]
    status = "failed" if chosen == "no" else "completed"
    content = [{"type": "content", "content": {"type": "text", "text": f"chosen {chosen}"}}]
    update(session, "tool_call_update", toolCallId="call_1", status=status, content=content)
    say(session, f"You chose {chosen}.")


def diff(session, path):
    diff = {"type": "diff", "path": path, "oldText": "one\n", "newText": "two\n"}
    update(session, "tool_call", toolCallId="edit_1", title="Edit it", kind="edit", status="in_progress",
           rawInput={"file_path": path}, locations=[{"path": path, "line": 1}])
    update(session, "tool_call_update", toolCallId="edit_1", status="completed", content=[diff])


def plan(session, rest):
    entry = lambda content, status: {"content": content, "priority": "high", "status": status}
    update(session, "plan", entries=[entry("look", "in_progress"), entry("mend", "pending")])
    update(session, "plan", entries=[entry("look", "completed"), entry("mend", "in_progress")])
    say(session, "planned")


def read(session, path):
    answer = ask("fs/read_text_file", {"sessionId": session, "path": path})
    say(session, answer["result"]["content"] if "result" in answer else "refused: " + answer["error"]["message"])


def write(session, rest):
    path, _, text = rest.partition(" ")
    answer = ask("fs/write_text_file", {"sessionId": session, "path": path, "content": text + "\n"})
    say(session, "written" if "result" in answer else "refused: " + answer["error"]["message"])


def show(session, rest):
    """Asks about a new file, showing its text as a diff, and then has it written: with that text, or with another."""
    path, shown, text = rest.split(" ")
    diff = f"Index: {path}\n===\n--- {path}\n+++ {path}\n@@ -0,0 +1,1 @@\n+{shown}\n"
    call = {"toolCallId": "show_1", "title": path, "kind": "edit", "locations": [{"path": path}]}
    update(session, "tool_call", status="pending", rawInput={"filePath": path, "content": shown}, **call)
    call |= {"rawInput": {"filepath": path, "diff": diff}}
    options = [{"optionId": "once", "name": "Allow once", "kind": "allow_once"}]
    ask("session/request_permission", {"sessionId": session, "toolCall": call, "options": options})
    answer = ask("fs/write_text_file", {"sessionId": session, "path": path, "content": text + "\n"})
    update(session, "tool_call_update", toolCallId="show_1", status="completed")
    say(session, "written" if "result" in answer else "refused: " + answer["error"]["message"])


def terminal(session, line):
    answer = ask("terminal/create", {"sessionId": session, "command": "sh", "args": ["-c", line]})
    if "error" in answer:
        return say(session, "refused: " + answer["error"]["message"])
    ident = {"sessionId": session, "terminalId": answer["result"]["terminalId"]}
    exit = ask("terminal/wait_for_exit", ident)["result"]
    output = ask("terminal/output", ident)["result"]["output"]
    ask("terminal/release", ident)
    say(session, f"exit {exit['exitCode']}: {output}")


def kill(session, line):
    answer = ask("terminal/create", {"sessionId": session, "command": line})
    ident = {"sessionId": session, "terminalId": answer["result"]["terminalId"]}
    while "ready" not in ask("terminal/output", ident)["result"]["output"]:
        time.sleep(0.02)
    ask("terminal/kill", ident)
    exit = ask("terminal/wait_for_exit", ident)["result"]
    say(session, f"killed, {exit['signal']}")


def hang(session, rest):
    say(session, "I begin, ")
    say(session, "and wait.")
    cancelled.wait()
    note("was cancelled")


def die(session, rest):
    update(session, "tool_call", toolCallId="last", title="The last thing", kind="execute", status="in_progress",
           rawInput={"command": "die"})
    say(session, "my last words")
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGKILL)


def flood(session, count):
    for number in range(int(count)):
        update(session, "agent_message_chunk", content={"type": "text", "text": f"{number} "})
    for number in range(int(count)):
        update(session, "tool_call", toolCallId=f"f{number}", title="x", kind="other", status="in_progress")
    say(session, "that was all")


def mode(session, name):
    update(session, "current_mode_update", currentModeId=name)


def outside(session, path):
    answer = ask("fs/read_text_file", {"sessionId": "another", "path": path})
    say(session, "refused: " + answer["error"]["message"])


def fetch(session, url):
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            say(session, f"{answer.status}")
    except urllib.error.HTTPError as error:
        say(session, f"{error.code}: {error.read().decode().strip()}")
    except OSError as error:
        say(session, f"no way: {error}")


def over_http(server, token):
    headers = {header["name"]: header["value"] for header in server["headers"]}
    headers |= {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    if token:
        headers["Authorization"] = "Bearer " + token

    def post(message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        with urllib.request.urlopen(urllib.request.Request(server["url"], body, headers)) as answer:
            ident = answer.headers.get("Mcp-Session-Id")
            if ident:
                headers["Mcp-Session-Id"] = ident
            for line in answer.read().decode().splitlines():
                line = line.removeprefix("data:").strip()
                if line.startswith("{") and '"id"' in line:
                    return json.loads(line)

    return post, lambda: headers.update({"MCP-Protocol-Version": "2025-11-25"})


def over_program(server):
    variables = os.environ | {variable["name"]: variable["value"] for variable in server["env"]}
    command = [server["command"], *server["args"]]
    program = subprocess.Popen(command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def post(message):
        program.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        program.stdin.flush()
        while "id" in message:
            answer = json.loads(program.stdout.readline())
            if answer.get("id") == message["id"]:
                return answer

    return post, lambda: None


def asked(method, params, token=None):
    """What yoi's own MCP server answers."""
    server = servers[0]
    post, is_greeted = over_http(server, token) if "url" in server else over_program(server)
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "scripted", "version": "1"}}
    post({"id": 1, "method": "initialize", "params": client})
    is_greeted()
    post({"method": "notifications/initialized"})
    answer = post({"id": 2, "method": method, "params": params})
    return answer.get("result") or answer["error"]


def mcp(session, rest):
    name, _, arguments = rest.partition(" ")
    result = asked("tools/call", {"name": name, "arguments": json.loads(arguments)})
    say(session, "\n".join(block.get("text", "") for block in result.get("content", [])) or json.dumps(result))


def forge(session, token):
    say(session, " ".join(tool["name"] for tool in asked("tools/list", {}, token)["tools"]))


def raw(session, text):
    """Sends this text, with its escapes, to where yoi's own tools are."""
    with socket.create_connection(("127.0.0.1", 3128), timeout=60) as way:
        way.sendall(text.encode().decode("unicode_escape").encode())
        say(session, b"".join(iter(lambda: way.recv(4096), b"")).decode())


DEEDS = {f.__name__: f for f in [
    tool, diff, plan, read, write, show, terminal, kill, hang, die, flood, mode, outside, fetch, mcp, forge, raw]}


def prompt(ident, session, blocks):
    text = "\n".join(block.get("text", "[" + block["type"] + "]") for block in blocks)
    note("prompt " + json.dumps(text))
    remember(session, "user", text)
    word, _, rest = text.partition(" ")
    if word == "login":
        return send({"id": ident, "error": {"code": -32000, "message": "Authentication required"}})
    if word in DEEDS:
        DEEDS[word](session, rest)
    else:
        update(session, "agent_thought_chunk", content={"type": "text", "text": "I think of it."})
        say(session, "You said: ")
        say(session, text)
    update(session, "usage_update", used=100, size=1000, cost={"amount": 0.5, "currency": "USD"})
    reason = "cancelled" if cancelled.is_set() else {"full": "max_tokens", "refuse": "refusal"}.get(word, "end_turn")
    send({"id": ident, "result": {"stopReason": reason, "usage": {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10}}})


def opened(session):
    update(session, "available_commands_update", availableCommands=[
        {"name": "review", "description": "Looks at the changes", "input": {"hint": "what"}}])


def handle(message):
    method, params, ident = message["method"], message.get("params") or {}, message.get("id")
    session = params.get("sessionId")
    if method == "initialize":
        note("initialize " + json.dumps(params["clientCapabilities"], sort_keys=True))
        send({"id": ident, "result": {
            "protocolVersion": 1,
            "agentCapabilities": {"loadSession": not CANNOT_LOAD, "mcpCapabilities": {"http": TAKES_HTTP},
                                  "promptCapabilities": {"image": True}},
            "agentInfo": {"name": "scripted", "title": "Scripted Agent", "version": "1.2.3"}}})
    elif method == "session/new":
        session = f"s{os.getpid()}-{int(time.time() * 1000)}"
        servers[:] = params["mcpServers"]
        note(f"new {params['cwd']} {len(servers)}")
        (STATE / session).touch()
        send({"id": ident, "result": {"sessionId": session, "modes": MODES, "models": MODELS}})
        opened(session)
    elif method == "session/load":
        servers[:] = params["mcpServers"]
        note(f"load {session}")
        for line in (STATE / session).read_text().splitlines():
            who, text = json.loads(line)
            update(session, f"{who}_message_chunk", content={"type": "text", "text": text})
        send({"id": ident, "result": {"modes": MODES, "models": MODELS}})
        opened(session)
    elif method == "session/set_mode":
        note("mode " + params["modeId"])
        send({"id": ident, "result": {}})
    elif method == "session/set_model":
        note("model " + params["modelId"])
        send({"id": ident, "result": {}})
    elif method == "session/prompt":
        cancelled.clear()
        threading.Thread(target=prompt, args=(ident, session, params["prompt"]), daemon=True).start()
    elif method == "session/cancel":
        cancelled.set()
    elif ident is not None:
        send({"id": ident, "error": {"code": -32601, "message": "unknown"}})


note(f"pid {os.getpid()}")
print("scripted agent, listening on stdio", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "method" in message:
        handle(message)
    else:
        answers.pop(message["id"]).put(message)
