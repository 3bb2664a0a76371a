//! Answers that are small when sent and large in memory.

use super::attack::{Attack, EVENTS, End, JSON, MIB, answer, attack, gzip, packed};
use crate::stranger::Then;

pub(super) fn of_packing() -> Vec<Attack> {
    let zeros = gzip(&vec![b'x'; MIB], 300);
    let comments = gzip(&b": still here\n\n".repeat(MIB / 14), 300);
    let refused = "HTTP/1.1 500 No\r\ncontent-type: application/json\r\n";
    let twice = gzip(&zeros, 1);
    vec![
        attack(
            "a packed line of 300 MB",
            "openai",
            packed(EVENTS, zeros.clone()),
            Then::End,
            End::Says("2 MiB in one piece"),
        ),
        attack("300 MB of packed comments", "openai", packed(EVENTS, comments), Then::End, End::Says("64 MiB")),
        attack(
            "a packed line, ollama",
            "ollama",
            packed(JSON, zeros.clone()),
            Then::End,
            End::Says("2 MiB in one piece"),
        ),
        attack(
            "a packed refusal of 300 MB",
            "openai",
            packed(refused.replace("500", "400").as_str(), zeros.clone()),
            Then::End,
            End::Fails,
        ),
        attack(
            "packed twice",
            "openai",
            answer(&format!("{EVENTS}content-encoding: gzip, gzip\r\n"), twice),
            Then::End,
            End::Fails,
        ),
        attack("packed, and it is not", "openai", packed(EVENTS, b"data: {}\n\n".to_vec()), Then::End, End::Fails),
        attack(
            "packed in a way that nobody asked for",
            "openai",
            answer(&format!("{EVENTS}content-encoding: br\r\n"), &zeros),
            Then::End,
            End::Fails,
        ),
        attack(
            "a refusal without end",
            "openai",
            answer("HTTP/1.1 400 No\r\n", ""),
            Then::ForEver(vec![b'n'; 65536]),
            End::Fails,
        ),
        attack(
            "a refusal of brackets",
            "openai",
            answer("HTTP/1.1 400 No\r\n", "[".repeat(60_000)),
            Then::End,
            End::Fails,
        ),
    ]
}
