// A small editor on ACP's official library of npm: node editor.mjs LIBRARY YOI DATA FOLDER
import { spawn } from "node:child_process";
import { strict as assert } from "node:assert";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";

const [library, yoi, data, folder] = process.argv.slice(2);
const acp = await import(library);

/** Runs `work` with an agent of its own, and gives it what the agent has shown. */
async function edit(work) {
  const child = spawn(yoi, ["acp", "--data", data], { stdio: ["pipe", "pipe", "inherit"] });
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  const shown = [];
  const asked = [];
  const app = acp
    .client({ name: "editor" })
    .onNotification(acp.methods.client.session.update, ({ params }) => { shown.push(params.update); })
    .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
      asked.push(params);
      const chosen = params.options.find((option) => option.kind === "allow_once");
      return { outcome: { outcome: "selected", optionId: chosen.optionId } };
    });
  try {
    return await app.connectWith(stream, (agent) => work(agent, shown, asked));
  } finally {
    child.stdin.end();
  }
}

const words = (text) => [{ type: "text", text }];
const said = (shown, kind) =>
  shown.filter((update) => update.sessionUpdate === kind).map((update) => update.content.text).join("");
const until = async (holds) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
};

const session = await edit(async (agent, shown, asked) => {
  const { agent: method } = acp.methods;
  const about = await agent.request(method.initialize, { protocolVersion: 1, clientCapabilities: {} });
  assert.equal(about.protocolVersion, 1);
  assert.equal(about.agentCapabilities.loadSession, true);
  const { sessionId, configOptions } = await agent.request(method.session.new, { cwd: folder, mcpServers: [] });
  assert.ok(configOptions.some((option) => option.category === "model"));

  const talk = await agent.request(method.session.prompt, { sessionId, prompt: words("think hm\nsay hello") });
  assert.equal(talk.stopReason, "end_turn");
  assert.equal(said(shown, "agent_message_chunk"), "hello");
  assert.equal(said(shown, "agent_thought_chunk"), "hm");

  const write = 'call Write {"path":"of-npm.txt","content":"one\\n"}';
  await agent.request(method.session.prompt, { sessionId, prompt: words(write) });
  assert.equal(asked.length, 1);
  assert.equal(readFileSync(join(folder, "of-npm.txt"), "utf8"), "one\n");
  const diffs = shown.flatMap((update) => update.content ?? []).filter((content) => content.type === "diff");
  assert.equal(diffs[0].newText, "one\n");
  rmSync(join(folder, "of-npm.txt"));

  const long = agent.request(method.session.prompt, { sessionId, prompt: words("say begun\nstream 100000 at 50") });
  await until(() => said(shown, "agent_message_chunk").includes("begun"));
  await agent.notify(method.session.cancel, { sessionId });
  assert.equal((await long).stopReason, "cancelled");

  const chosen = await agent.request(method.session.setConfigOption, { sessionId, configId: "network", value: "none" });
  assert.equal(chosen.configOptions.find((option) => option.id === "network").currentValue, "none");
  return sessionId;
});

await edit(async (agent, shown) => {
  const { agent: method } = acp.methods;
  await agent.request(method.initialize, { protocolVersion: 1, clientCapabilities: {} });
  await agent.request(method.session.load, { sessionId: session, cwd: folder, mcpServers: [] });
  assert.ok(said(shown, "user_message_chunk").startsWith("think hm\nsay hello"));
  assert.ok(said(shown, "agent_message_chunk").startsWith("hello"));
  const listed = await agent.request(method.session.list, { cwd: folder });
  assert.ok(listed.sessions.some((info) => info.sessionId === session));
});
process.exit(0);
