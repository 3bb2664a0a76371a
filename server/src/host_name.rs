//! The name of this machine, which this server announces to others.

use protocol::RuntimeId;

/// Where to find it; the first readable one counts.
const PLACES: [&str; 2] = ["/proc/sys/kernel/hostname", "/etc/hostname"];
/// For a machine whose name is missing or meaningless.
const NAMELESS: &str = "yoi";
/// The longest runtime id.
const LEN_MAX: usize = 32;

/// The host name, converted to a runtime id.
pub(crate) fn announced() -> RuntimeId {
    let name = PLACES.iter().find_map(|place| std::fs::read_to_string(place).ok());
    fitting(name.as_deref().unwrap_or_default())
}

fn fitting(name: &str) -> RuntimeId {
    let first = name.trim().split('.').next().unwrap_or_default().to_ascii_lowercase();
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let name: String = first.chars().take(LEN_MAX).map(letter).collect();
    let name = match name.trim_matches('-') {
        // Every machine can call itself that.
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
