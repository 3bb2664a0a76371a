// What a person writes against types that openapi-typescript has made: no shape is spelled out here, all come from them.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type Schemas = components["schemas"];
type Event = Schemas["Event"];
type Kind = Event["kind"];

const WAIT_MS_MAX = 60_000;
const [base, token] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: base, headers: { Authorization: `Bearer ${token}` } });

/** Compiles only while it has each kind that there is, and no other. */
const KINDS: { [kind in Kind]: true } = {
  user_message: true,
  peer_message: true,
  child_event: true,
  text_chunk: true,
  reasoning_chunk: true,
  tool_args_chunk: true,
  tool_output_chunk: true,
  message_finished: true,
  reasoning_finished: true,
  tool_called: true,
  tool_finished: true,
  command_ended: true,
  compacted: true,
  rewound: true,
  run_started: true,
  run_finished: true,
  provider_retry: true,
  usage: true,
  status: true,
  peer_linked: true,
  peer_unlinked: true,
  peer_requested: true,
  peer_declined: true,
  message_receipt: true,
  child_spawned: true,
  child_stopped: true,
  scope_changed: true,
  approval_asked: true,
  approval_answered: true,
  settings_changed: true,
  limit_reached: true,
  agent_started: true,
  agent_offers: true,
  agent_prompted: true,
  plan_updated: true,
  mode_changed: true,
  alert: true,
};

/** A kind of a later version is none of these. */
function isKnown(event: Schemas["Record"]["event"]): event is Event {
  return event.kind !== undefined && event.kind in KINDS;
}

/** Each branch has the fields of its kind; one that is forgotten does not compile. */
function told(event: Event): string {
  switch (event.kind) {
    case "user_message":
      return `${event.by}: ${event.segments.length}`;
    case "peer_message":
      return `${event.from.name}: ${event.text}`;
    case "child_event":
      return `${event.child.name} ${event.what}`;
    case "text_chunk":
    case "reasoning_chunk":
    case "tool_args_chunk":
    case "tool_output_chunk":
      return `${event.block} ${event.text}`;
    case "message_finished":
    case "reasoning_finished":
      return `${event.text}${event.interrupted ? " (interrupted)" : ""}`;
    case "tool_called":
      return `${event.call_id} ${event.name} ${JSON.stringify(event.arguments)}`;
    case "tool_finished":
      return `${event.call_id} ${event.summary} after ${event.duration_ms}`;
    case "command_ended":
      return `${event.call_id} ${event.detail}`;
    case "compacted":
      return `${event.summary} from ${event.kept_from_seq}`;
    case "rewound":
      return `to ${event.to_seq}`;
    case "run_started":
      return event.trigger;
    case "run_finished":
      return `${event.outcome} ${event.usage.output}`;
    case "provider_retry":
      return `${event.attempt} in ${event.wait_ms}`;
    case "usage":
      return `${event.input} ${event.output}`;
    case "status":
      return event.state;
    case "peer_linked":
    case "peer_unlinked":
    case "peer_requested":
    case "peer_declined":
      return event.peer.name;
    case "message_receipt":
      return `${event.message_id} ${event.state}`;
    case "child_spawned":
    case "child_stopped":
    case "scope_changed":
      return `${event.child.name} ${event.scope.length}`;
    case "approval_asked":
    case "approval_answered":
      return `${event.id} ${event.tool}`;
    case "settings_changed":
      return `${event.by}: ${event.model ?? event.thinking ?? event.budget?.per ?? "other settings"}`;
    case "limit_reached":
      return `${event.until} ${event.resumes}`;
    case "agent_started":
      return `${event.agent} ${event.session_id} ${event.resumed}`;
    case "agent_offers":
      return `${event.offers.modes.length} modes, ${event.offers.models.length} models`;
    case "agent_prompted":
      return `to ${event.to_seq}`;
    case "plan_updated":
      return `${event.entries.length} steps`;
    case "mode_changed":
      return event.mode;
    case "alert":
      return `${event.level} ${event.text}`;
    default: {
      const none: never = event;
      return none;
    }
  }
}

function check(holds: unknown, what: unknown): asserts holds {
  if (!holds) throw new Error(JSON.stringify(what));
}

const made = await client.POST("/api/v1/pods", { body: { name: "tess", provider: "rehearsal" } });
check(made.data, made.error);
const path = made.data.pod;
const sent = await client.POST("/api/v1/runtimes/{runtime_id}/workers/{worker_id}/input", {
  params: { path },
  body: { segments: [{ type: "text", text: "say typed all the way" }] },
});
check(sent.data, sent.error);

let records: Schemas["Record"][] = [];
const deadline = Date.now() + WAIT_MS_MAX;
while (!records.some((record) => record.event.kind === "run_finished")) {
  check(Date.now() < deadline, records);
  const page = await client.GET("/api/v1/runtimes/{runtime_id}/workers/{worker_id}/transcript", { params: { path } });
  check(page.data, page.error);
  records = page.data.items;
}
const events = records.map((record) => record.event).filter(isKnown);
check(events.length === records.length, records);
const answers = events.flatMap((event) => (event.kind === "message_finished" ? [told(event)] : []));
check(answers.join() === "typed all the way", answers);
const commands = events.flatMap((event) => (event.kind === "user_message" ? [event.command_id] : []));
check(commands.join() === sent.data.command_id, commands);

const refused = await client.POST("/api/v1/pods", { body: { name: "tess" } });
check(refused.error && refused.response.status === 409, refused.data);
const code: Schemas["ErrorCode"] = refused.error.code;
check(code === "name_taken" && refused.error.detail.includes("tess"), refused.error);
console.log("typescript is served");
