//! A long history to import: turns of six blocks with Markdown, code, reasoning and tool calls.

use serde_json::{Value, json};

/// The number that the goal is defined for.
pub(crate) const BLOCKS: usize = 10_000;
/// User message, reasoning, answer, call, answer, end.
const BLOCKS_PER_TURN: usize = 6;
/// Every this many turns there is code, or a table.
const CODE_EVERY: usize = 10;
/// A summary replaces all but this many of the newest turns, otherwise the next question would trigger compaction.
const KEPT_TURNS: usize = 5;

/// The lines of an export with at least this many blocks. Less than 4 MB, the limit of a request.
pub(crate) fn jsonl(name: &str, blocks: usize) -> String {
    let turns = blocks.div_ceil(BLOCKS_PER_TURN);
    let mut lines = Lines::default();
    for turn in 1..=turns {
        if turn + KEPT_TURNS == turns {
            let kept_from_seq = lines.seq;
            lines.add(0, json!({ "kind": "compacted", "summary": "All went well.", "kept_from_seq": kept_from_seq }));
        }
        lines.turn(name, turn);
    }
    lines.text
}

#[derive(Debug, Default)]
struct Lines {
    seq: usize,
    text: String,
}

impl Lines {
    fn turn(&mut self, name: &str, turn: usize) {
        let command_id = format!("00000000-0000-4000-8000-{turn:012}");
        let call = format!("call-{turn}");
        self.add(turn, json!({ "kind": "run_started", "trigger": "input", "command_id": command_id }));
        self.add(
            turn,
            json!({
                "kind": "user_message", "by": "operator", "command_id": command_id,
                "segments": [{ "type": "text", "text": format!("Question {turn} to {name}: what is next?") }],
            }),
        );
        self.add(
            turn,
            json!({
                "kind": "reasoning_finished", "block": format!("r{turn}"), "interrupted": false,
                "text": "The tests first, then the notes.",
            }),
        );
        self.add(turn, said(format!("a{turn}"), answer(turn)));
        self.add(
            turn,
            json!({
                "kind": "tool_called", "call_id": call, "block": format!("t{turn}"), "name": "Bash", "by": "model",
                "arguments": { "command": format!("cargo test part_{turn}") },
            }),
        );
        self.add(
            turn,
            json!({
                "kind": "tool_finished", "call_id": call, "block": format!("t{turn}"), "summary": "3 tests passed",
                "content": "test a ... ok\ntest b ... ok\ntest c ... ok\n", "is_error": false, "duration_ms": 412,
                "by": "model",
            }),
        );
        self.add(turn, said(format!("e{turn}"), format!("Part {turn} is **done**.")));
        let usage = json!({
            "input": 900, "cached": 0, "output": 60, "context_used": 2_000, "context_limit": 200_000,
        });
        self.add(turn, json!({ "kind": "run_finished", "outcome": "completed", "usage": usage }));
    }

    fn add(&mut self, turn: usize, event: Value) {
        self.seq += 1;
        let (minutes, seconds) = (self.seq / 60 % 60, self.seq % 60);
        let mut record =
            json!({ "seq": self.seq, "at": format!("2026-11-20T10:{minutes:02}:{seconds:02}Z"), "event": event });
        if turn > 0 {
            record["run_id"] = json!(format!("run-{turn}"));
        }
        self.text.push_str(&record.to_string());
        self.text.push('\n');
    }
}

fn said(block: String, text: String) -> Value {
    json!({ "kind": "message_finished", "block": block, "text": text, "interrupted": false })
}

/// Long and short ones alternate, so that no height can be guessed from another.
fn answer(turn: usize) -> String {
    let code = format!("```rust\nfn part_{turn}() -> u64 {{\n    // counted twice\n    2 * {turn}\n}}\n```");
    match turn % CODE_EVERY {
        0 => format!("Here is part {turn}:\n\n{code}\n\nIt *compiles*."),
        5 => format!("| part | state |\n| --- | --- |\n| {turn} | ready |\n\n1. read\n2. write\n3. `test`"),
        rest => format!("Part {turn}: I read `notes.md`. {}", "Nothing in it is surprising. ".repeat(rest)),
    }
}
