//! What the people have their Pods do: messages that the rehearsal model acts out, line by line.

use serde_json::{Value, json};

use crate::Chance;

/// The folder that all Pods work in. Always the same one, because its path is in their journals, and empty but for
/// [`PLACES`], because a server keeps what is in a Pod's folder.
pub(crate) const FOLDER: &str = "/tmp/yoi-simulated";
/// Folders in it, which Pods lend and write to. The tool that writes only says so.
const PLACES: [&str; 5] = ["one", "one/two", "one/three", "four", "five"];
/// So many names are there for the children of all Pods of a server.
const CHILDREN: u64 = 5;
/// A child of a child of a Pod that people made spawns no more.
const DEPTH_MAX: u64 = 2;

/// What a message has the rehearsal model do.
///
/// `far` is the number of servers whose Pods may be peers of this one's.
pub(crate) fn script(chance: &mut Chance, far: usize) -> String {
    lines(chance, 4, 0, far)
}

fn lines(chance: &mut Chance, most: u64, depth: u64, far: usize) -> String {
    let lines: Vec<String> = (0..chance.within(1, most)).map(|_| line(chance, depth, far)).collect();
    lines.join("\n")
}

fn line(chance: &mut Chance, depth: u64, far: usize) -> String {
    match chance.below(14) {
        0 | 1 => format!("say {}", words(chance)),
        2 => format!("think {}", words(chance)),
        3 | 4 => format!("stream {} at {}", chance.within(1, 60), chance.pick(&[0, 20, 50, 200])),
        5 | 6 => "call Asked {}".to_owned(),
        9 => {
            let mut name = format!("pod-{}", chance.below(3));
            if far > 0 && !chance.once_in(4) {
                name = format!("{name}@server-{}", chance.below(far as u64));
            }
            let text = json!({ "name": name, "message": format!("say {}", words(chance)) });
            format!("call SendToPeerPod {text}")
        }
        7 => format!("wait 0.{}", chance.within(1, 9)),
        10 if depth < DEPTH_MAX => format!("call SpawnPod {}", spawn(chance, depth)),
        11 => {
            let verb = *chance.pick(&["StopPod", "RestorePod"]);
            format!("call {verb} {}", json!({ "name": child(chance) }))
        }
        10 | 12 | 13 => format!("call Mark {}", json!({ "path": format!("{}/mark", place(chance)) })),
        _ => format!("fail {}", chance.pick(&[400, 429, 500, 503])),
    }
}

fn spawn(chance: &mut Chance, depth: u64) -> Value {
    let access = if chance.once_in(4) { "read" } else { "write" };
    let rules = (0..chance.within(1, 2)).map(|_| json!({ "path": place(chance), "access": access }));
    let scope: Vec<Value> = rules.collect();
    json!({ "name": child(chance), "task": lines(chance, 3, depth + 1, 0), "scope": scope })
}

fn place(chance: &mut Chance) -> String {
    format!("{FOLDER}/{}", chance.pick(&PLACES))
}

/// Makes the folders that Pods work in. They stay: other days may be at work in them.
pub(crate) fn make_places() -> std::io::Result<()> {
    PLACES.iter().try_for_each(|place| std::fs::create_dir_all(format!("{FOLDER}/{place}")))
}

fn child(chance: &mut Chance) -> String {
    format!("child-{}", chance.below(CHILDREN))
}

fn words(chance: &mut Chance) -> String {
    let words = ["one", "two", "three", "four", "ä", "„five“", "six", "seven"];
    (0..chance.within(1, 12)).map(|_| *chance.pick(&words)).collect::<Vec<_>>().join(" ")
}
