//! The names that models use for a server's tools: `SERVER__tool`, in characters that every vendor accepts.

use sha2::{Digest, Sha256};

/// Separates a server's name from its tool's.
pub(crate) const BETWEEN: &str = "__";
pub(crate) const SERVER_CHARS_MAX: usize = 32;
/// The length of a whole name: every vendor accepts this much.
const NAME_CHARS_MAX: usize = 64;
/// The length of the hash that keeps two names from becoming the same.
const MARK_CHARS: usize = 8;

/// Returns the name of the server that this tool would belong to.
pub fn server_of(tool: &str) -> Option<&str> {
    tool.split_once(BETWEEN).map(|(server, _)| server).filter(|server| !server.is_empty())
}

/// Returns the name of a tool, which is always the same: unchanged if every vendor accepts it, otherwise adapted, with
/// a hash of the original so that no two names become one.
pub(crate) fn fit(server: &str, tool: &str) -> String {
    let is_fit = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let room = NAME_CHARS_MAX - server.len() - BETWEEN.len();
    if !tool.is_empty() && tool.len() <= room && tool.chars().all(is_fit) {
        return format!("{server}{BETWEEN}{tool}");
    }
    let plain = tool.chars().map(|letter| if is_fit(letter) { letter } else { '_' });
    let plain: String = plain.take(room - MARK_CHARS - 1).collect();
    let mark: String = Sha256::digest(tool).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{server}{BETWEEN}{plain}_{}", &mark[..MARK_CHARS])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_by_every_vendor_and_no_two_are_one() {
        let server = "files";
        assert_eq!(fit(server, "read_file"), "files__read_file");
        let long = "x".repeat(200);
        let odd = ["a.b", "a/b", "a b", "", "ä", "a\u{202e}b", &long, &format!("{long}y")];
        let mut all: Vec<String> = odd.iter().map(|tool| fit(server, tool)).collect();
        for name in &all {
            assert!(name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
            assert_eq!(server_of(name), Some("files"));
        }
        all.sort();
        all.dedup();
        assert_eq!(all.len(), odd.len());
        assert_eq!(fit(server, "a.b"), fit(server, "a.b"), "rules hold for the next time, too");
    }

    #[test]
    fn none_of_our_own_tools_is_a_servers() {
        assert!(protocol::tool::TOOLS.iter().all(|tool| server_of(tool.name).is_none()));
    }
}
