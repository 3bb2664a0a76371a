//! Answers that confuse their reader.

use serde_json::json;

use super::attack::{Attack, DONE, EVENTS, End, JSON, MIB, answer, attack, delta, event};
use crate::stranger::Then;

#[expect(clippy::too_many_lines, reason = "one list of attacks")]
pub(super) fn of_nonsense() -> Vec<Attack> {
    let usage = |tokens: i64| {
        let usage = json!({ "prompt_tokens": tokens, "completion_tokens": tokens, "total_tokens": tokens });
        format!("{}data: {}\n\n{DONE}", delta(json!({ "content": "hi" })), json!({ "choices": [], "usage": usage }))
    };
    let anthropic = |tokens: i64| {
        [
            event("message_start", json!({ "message": { "usage": { "input_tokens": tokens, "output_tokens": 1 } } })),
            event(
                "message_delta",
                json!({ "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": tokens } }),
            ),
            event("message_stop", json!({})),
        ]
        .concat()
    };
    let max = i64::from(i32::MAX);
    let ollama = json!({ "message": { "content": "hi" }, "done": true, "done_reason": "stop", "prompt_eval_count": max, "eval_count": max });
    let headers: String = (0..200).map(|number| format!("x-{number}: y\r\n")).collect();
    let wide = format!("x: {}\r\n", "y".repeat(MIB));
    vec![
        attack("tokens beyond counting", "openai", answer(EVENTS, usage(i64::MAX)), Then::End, End::Completes),
        attack("fewer tokens than none", "openai", answer(EVENTS, usage(-5)), Then::End, End::Completes),
        attack(
            "tokens whose sum is beyond counting, anthropic",
            "anthropic",
            answer(EVENTS, anthropic(max)),
            Then::End,
            End::Fails,
        ),
        attack(
            "tokens whose sum is beyond counting, ollama",
            "ollama",
            answer(JSON, ollama.to_string()),
            Then::End,
            End::Fails,
        ),
        attack("letters that are none", "openai", answer(EVENTS, b"data: \xff\xfe\n\n"), Then::End, End::Fails),
        attack(
            "half a letter",
            "openai",
            answer(EVENTS, b"data: {\"choices\":[{\"delta\":{\"content\":\"\xc3"),
            Then::End,
            End::Fails,
        ),
        attack("200 headers", "openai", answer(&format!("{EVENTS}{headers}"), DONE), Then::End, End::Fails),
        attack("a header of 1 MB", "openai", answer(&format!("{EVENTS}{wide}"), DONE), Then::End, End::Fails),
        attack("headers without end", "openai", EVENTS.into(), Then::ForEver(b"x-more: y\r\n".repeat(64)), End::Fails),
        attack(
            "a status line without end",
            "openai",
            b"HTTP/1.1 200 ".to_vec(),
            Then::ForEver(vec![b'O'; 4096]),
            End::Fails,
        ),
        attack(
            "words before the answer for ever",
            "openai",
            vec![],
            Then::ForEver(b"HTTP/1.1 103 Wait\r\n\r\n".repeat(64)),
            End::Cancel,
        ),
        attack("no HTTP at all", "openai", vec![0; 4096], Then::End, End::Fails),
        attack(
            "a portion of a size beyond counting",
            "openai",
            format!("{EVENTS}transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n").into(),
            Then::End,
            End::Fails,
        ),
        attack(
            "a portion whose size does not end",
            "openai",
            format!("{EVENTS}transfer-encoding: chunked\r\n\r\n1;").into(),
            Then::ForEver(vec![b'x'; 4096]),
            End::Fails,
        ),
        attack(
            "a redirect to a file",
            "openai",
            answer("HTTP/1.1 302 Go\r\nlocation: file:///etc/passwd\r\n", ""),
            Then::End,
            End::Fails,
        ),
        attack(
            "a pause of a thousand years",
            "openai",
            answer("HTTP/1.1 429 Wait\r\nretry-after: 31536000000\r\n", ""),
            Then::End,
            End::Fails,
        ),
        attack(
            "a pause that is no number",
            "openai",
            answer("HTTP/1.1 400 No\r\nretry-after: NaN\r\n", ""),
            Then::End,
            End::Fails,
        ),
    ]
}
