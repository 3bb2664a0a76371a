//! The checksum of a cursor, which detects a damaged one.

/// A place in a list or stream in the form given to clients: `PLACE.CHECK`. They return it unchanged.
pub fn seal_cursor(place: &str) -> String {
    format!("{place}.{:08x}", check(place))
}

/// The place in a sealed cursor. `None` if it was never one or has been altered, because it could then name another
/// place.
pub fn open_cursor(sealed: &str) -> Option<&str> {
    let (place, sum) = sealed.rsplit_once('.')?;
    (format!("{:08x}", check(place)) == sum).then_some(place)
}

/// FNV-1a. Protects against accidents, not against attackers: whoever may read a list may read all of it.
fn check(place: &str) -> u32 {
    let step = |sum: u32, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    place.bytes().fold(0x811c_9dc5, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_that_lost_or_changed_a_letter_is_none() {
        for place in ["local.p17", "s123456", "7", "box.", "", "é"] {
            let sealed = seal_cursor(place);
            assert_eq!(open_cursor(&sealed), Some(place));
            let letters: Vec<char> = sealed.chars().collect();
            let text = |letters: &[char]| letters.iter().collect::<String>();
            for at in 0..letters.len() {
                let (before, after) = (text(&letters[..at]), text(&letters[at + 1..]));
                for damaged in [before.clone(), format!("{before}{after}"), format!("{before}!{after}")] {
                    assert_eq!(open_cursor(&damaged), None, "{damaged:?} of {sealed:?}");
                }
                for digit in '0'..='9' {
                    let damaged = format!("{before}{digit}{after}");
                    assert!(damaged == sealed || open_cursor(&damaged).is_none(), "{damaged:?} of {sealed:?}");
                }
            }
        }
        assert_eq!(open_cursor("17"), None);
    }
}
