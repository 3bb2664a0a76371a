//! What this machine is called, as other servers may call this one.

use protocol::RuntimeId;

/// Where the system says it, the first that does.
const PLACES: [&str; 2] = ["/proc/sys/kernel/hostname", "/etc/hostname"];
/// Of a machine without a name, and of one whose name says nothing.
const NAMELESS: &str = "yoi";
/// Longest id of a runtime.
const LEN_MAX: usize = 32;

/// The host's name, made a runtime's id.
pub(crate) fn announced() -> RuntimeId {
    let name = PLACES.iter().find_map(|place| std::fs::read_to_string(place).ok());
    fitting(name.as_deref().unwrap_or_default())
}

fn fitting(name: &str) -> RuntimeId {
    let first = name.trim().split('.').next().unwrap_or_default().to_ascii_lowercase();
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let name: String = first.chars().take(LEN_MAX).map(letter).collect();
    let name = match name.trim_matches('-') {
        // Every server calls itself so.
        "" | "local" | "localhost" => NAMELESS,
        name => name,
    };
    RuntimeId::parse(name).expect("letters, digits and hyphens are an id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machines_name_becomes_an_id() {
        let long = "x".repeat(40);
        let cut = "x".repeat(32);
        for (name, id) in [
            ("box\n", "box"),
            ("GPU_Box-2.example.org", "gpu-box-2"),
            ("localhost.localdomain", "yoi"),
            ("", "yoi"),
            ("é.local", "yoi"),
            (&long, &cut),
        ] {
            assert_eq!(fitting(name).as_str(), id, "{name}");
        }
    }
}
