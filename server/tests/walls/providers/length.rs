//! Answers that do not end where they should.

use serde_json::json;

use super::attack::{Attack, EVENTS, End, MIB, answer, attack, delta};
use crate::stranger::Then;

#[expect(clippy::too_many_lines, reason = "one list of attacks")]
pub(super) fn of_length() -> Vec<Attack> {
    let line = [b"data: ".as_slice(), &vec![b'x'; 100 * MIB]].concat();
    let ended = [b"data: ".as_slice(), &vec![b'x'; 4 * MIB], b"\n\n"].concat();
    let many = b"data: x\n".repeat(MIB);
    let reply = |text: &str| delta(json!({ "content": text }));
    let long = reply(&"long ".repeat(200_000));
    let mut attacks = vec![
        attack("a line of 4 MB", "openai", answer(EVENTS, ended), Then::End, End::Says("2 MiB in one piece")),
        attack(
            "an event of a million lines",
            "openai",
            answer(EVENTS, many),
            Then::End,
            End::Says("2 MiB in one piece"),
        ),
        attack(
            "an answer of 64 MiB",
            "openai",
            answer(EVENTS, long.repeat(60)),
            Then::End,
            End::Says("says more than 16 MiB"),
        ),
        attack(
            "a comment that does not end",
            "openai",
            answer(EVENTS, ": "),
            Then::ForEver(vec![b'x'; 65536]),
            End::Says("2 MiB"),
        ),
        attack(
            "comments for ever",
            "openai",
            answer(EVENTS, ""),
            Then::ForEver(b": here\n\n".repeat(4096)),
            End::Says("64 MiB"),
        ),
        attack(
            "empty lines for ever",
            "openai",
            answer(EVENTS, ""),
            Then::ForEver(b"\n".repeat(4096)),
            End::Says("64 MiB"),
        ),
        attack(
            "events of nothing for ever",
            "openai",
            answer(EVENTS, ""),
            Then::ForEver(b"event: a\n\n".repeat(4096)),
            End::Says("64 MiB"),
        ),
        attack(
            "words of no wire for ever",
            "openai",
            answer(EVENTS, ""),
            Then::ForEver(b"hm\n\n".repeat(4096)),
            End::Says("64 MiB"),
        ),
        attack(
            "empty objects for ever",
            "openai",
            answer(EVENTS, ""),
            Then::ForEver(b"data: {}\n\n".repeat(512)),
            End::Says("pieces"),
        ),
        attack(
            "one word for ever",
            "openai",
            answer(EVENTS, ""),
            Then::ForEver(reply("w").into_bytes().repeat(64)),
            End::Cancel,
        ),
        attack(
            "one thought for ever",
            "openai",
            answer(EVENTS, ""),
            Then::ForEver(delta(json!({ "reasoning_content": "hm" })).into_bytes().repeat(64)),
            End::Cancel,
        ),
        attack(
            "a byte at a time",
            "openai",
            answer(EVENTS, ""),
            Then::OneByOne(reply("slow").into_bytes()),
            End::Cancel,
        ),
        attack(
            "comments a byte at a time",
            "openai",
            answer(EVENTS, ""),
            Then::OneByOne(b": still\n\n".to_vec()),
            End::Cancel,
        ),
        attack(
            "a head a byte at a time",
            "openai",
            b"HTTP/1.1 200 OK\r\nx-slow: ".to_vec(),
            Then::OneByOne(b"x".to_vec()),
            End::Cancel,
        ),
    ];
    for provider in ["openai", "anthropic", "gemini", "ollama"] {
        let name: &'static str = format!("a line of 100 MB, {provider}").leak();
        attacks.push(attack(name, provider, answer(EVENTS, &line), Then::End, End::Says("2 MiB in one piece")));
        let name: &'static str = format!("a line without end, {provider}").leak();
        attacks.push(attack(
            name,
            provider,
            answer(EVENTS, "data: "),
            Then::ForEver(vec![b'y'; 65536]),
            End::Says("2 MiB in one piece"),
        ));
        let name: &'static str = format!("a body of nothing but brackets, {provider}").leak();
        let deep = format!("data: {}\n\n", "[".repeat(MIB));
        attacks.push(attack(name, provider, answer(EVENTS, deep), Then::End, End::Fails));
    }
    attacks
}
