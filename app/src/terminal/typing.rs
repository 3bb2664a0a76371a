//! What a key sends to a shell. Pure.

/// What programs have set about input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Modes {
    /// Arrow keys send what a program of the whole screen expects.
    pub(super) has_own_arrows: bool,
    /// A paste is marked as one.
    pub(super) brackets_pastes: bool,
    /// A program has the whole screen, and nothing is above it.
    pub(super) is_whole_screen: bool,
}

/// A key as it was pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Pressed<'a> {
    pub(super) key: &'a str,
    pub(super) has_control: bool,
    pub(super) has_alt: bool,
    pub(super) has_shift: bool,
    /// Cmd, or the Windows key.
    pub(super) has_meta: bool,
    /// AltGr, or Option on a Mac: the key is a letter.
    pub(super) makes_a_letter: bool,
}

/// What a key does in a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meant {
    /// It is sent to the shell.
    Typed(Vec<u8>),
    /// The selected text is copied.
    Copied,
    /// It is the page's, or the browser's.
    Nothing,
}

/// What a key does. Text that comes without key events, as from a phone, is handled elsewhere.
pub(super) fn meant(pressed: Pressed<'_>, modes: Modes) -> Meant {
    let Pressed { key, has_control, has_alt, has_shift, has_meta, makes_a_letter } = pressed;
    let mut letters = key.chars();
    let letter = letters.next().filter(|_| letters.next().is_none());
    if has_meta {
        return Meant::Nothing;
    }
    match letter {
        Some(letter) if makes_a_letter => Meant::Typed(letter.to_string().into_bytes()),
        // The key that opens and leaves the terminal.
        Some('`') if has_control => Meant::Nothing,
        Some('c' | 'C') if has_control && has_shift => Meant::Copied,
        // Pasting, and other keys of the browser's.
        Some('a'..='z' | 'A'..='Z') if has_control && has_shift => Meant::Nothing,
        Some(letter) if has_control => control(letter).map_or(Meant::Nothing, |byte| typed(has_alt, &[byte])),
        Some(letter) => typed(has_alt, letter.to_string().as_bytes()),
        None => match named(pressed, modes) {
            Some(bytes) => Meant::Typed(bytes),
            None => Meant::Nothing,
        },
    }
}

/// A paste as the shell reads it. It contains no control characters but tabs and line ends, so it cannot end its own
/// marking.
pub(super) fn pasted(text: &str, modes: Modes) -> Vec<u8> {
    let text = text.replace("\r\n", "\r").replace('\n', "\r");
    let text: String = text.chars().filter(|letter| matches!(letter, '\r' | '\t') || !letter.is_control()).collect();
    match modes.brackets_pastes {
        true => format!("\x1b[200~{text}\x1b[201~").into_bytes(),
        false => text.into_bytes(),
    }
}

/// The arrow keys that turning a wheel stands for, where nothing can be scrolled.
pub(super) fn wheeled(is_up: bool, modes: Modes) -> Vec<u8> {
    let key = if is_up { "ArrowUp" } else { "ArrowDown" };
    named(Pressed { key, ..Pressed::default() }, modes).unwrap_or_default().repeat(3)
}

/// Alt puts an Escape before a key.
fn typed(has_alt: bool, bytes: &[u8]) -> Meant {
    let escape: &[u8] = if has_alt { b"\x1b" } else { b"" };
    Meant::Typed([escape, bytes].concat())
}

/// A letter with Ctrl.
fn control(letter: char) -> Option<u8> {
    match letter {
        'a'..='z' | 'A'..='Z' => Some(letter.to_ascii_lowercase() as u8 & 0x1f),
        ' ' | '@' | '2' => Some(0),
        '[' | '3' => Some(0x1b),
        '\\' | '4' => Some(0x1c),
        ']' | '5' => Some(0x1d),
        '^' | '6' => Some(0x1e),
        '_' | '/' | '-' | '7' => Some(0x1f),
        '?' | '8' => Some(0x7f),
        _ => None,
    }
}

/// A key with a name, as xterm sends it.
fn named(pressed: Pressed<'_>, modes: Modes) -> Option<Vec<u8>> {
    let Pressed { key, has_control, has_alt, has_shift, .. } = pressed;
    let escape = if has_alt { "\x1b" } else { "" };
    let held = 1 + u8::from(has_shift) + 2 * u8::from(has_alt) + 4 * u8::from(has_control);
    // An arrow, Home, End and the first function keys end with a letter, the others with a number.
    let lettered = |letter: char, is_function: bool| match held {
        1 if is_function || modes.has_own_arrows => format!("\x1bO{letter}"),
        1 => format!("\x1b[{letter}"),
        held => format!("\x1b[1;{held}{letter}"),
    };
    let numbered = |number: u8| match held {
        1 => format!("\x1b[{number}~"),
        held => format!("\x1b[{number};{held}~"),
    };
    let sent = match key {
        "Enter" => format!("{escape}\r"),
        "Backspace" if has_control => format!("{escape}\x08"),
        "Backspace" => format!("{escape}\x7f"),
        "Tab" if has_shift => "\x1b[Z".to_owned(),
        "Tab" if !has_control && !has_alt => "\t".to_owned(),
        "Escape" => format!("{escape}\x1b"),
        "ArrowUp" => lettered('A', false),
        "ArrowDown" => lettered('B', false),
        "ArrowRight" => lettered('C', false),
        "ArrowLeft" => lettered('D', false),
        "Home" => lettered('H', false),
        "End" => lettered('F', false),
        // The browser pastes.
        "Insert" if has_shift => return None,
        "Insert" => numbered(2),
        "Delete" => numbered(3),
        "PageUp" => numbered(5),
        "PageDown" => numbered(6),
        "F1" => lettered('P', true),
        "F2" => lettered('Q', true),
        "F3" => lettered('R', true),
        "F4" => lettered('S', true),
        "F5" => numbered(15),
        "F6" => numbered(17),
        "F7" => numbered(18),
        "F8" => numbered(19),
        "F9" => numbered(20),
        "F10" => numbered(21),
        "F11" => numbered(23),
        "F12" => numbered(24),
        _ => return None,
    };
    Some(sent.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Modes = Modes { has_own_arrows: false, brackets_pastes: false, is_whole_screen: false };

    /// `C-`, `A-`, `S-` and `M-` before a key stand for Ctrl, Alt, Shift and Cmd.
    fn pressed(keys: &str) -> Pressed<'_> {
        let mut pressed = Pressed { key: keys, ..Pressed::default() };
        while let Some((held, key)) =
            pressed.key.split_once('-').filter(|(held, key)| held.len() == 1 && !key.is_empty())
        {
            match held {
                "C" => pressed.has_control = true,
                "A" => pressed.has_alt = true,
                "S" => pressed.has_shift = true,
                _ => pressed.has_meta = true,
            }
            pressed.key = key;
        }
        pressed
    }

    #[test]
    fn keys_are_sent_as_xterm_sends_them() {
        for (keys, sent) in [
            ("a", "a"),
            ("S-A", "A"),
            ("é", "é"),
            ("C-c", "\x03"),
            ("C-[", "\x1b"),
            ("C- ", "\0"),
            ("A-b", "\x1bb"),
            ("C-A-d", "\x1b\x04"),
            ("Enter", "\r"),
            ("Backspace", "\x7f"),
            ("Tab", "\t"),
            ("S-Tab", "\x1b[Z"),
            ("Escape", "\x1b"),
            ("ArrowUp", "\x1b[A"),
            ("C-ArrowLeft", "\x1b[1;5D"),
            ("Home", "\x1b[H"),
            ("Delete", "\x1b[3~"),
            ("S-PageUp", "\x1b[5;2~"),
            ("F1", "\x1bOP"),
            ("F12", "\x1b[24~"),
        ] {
            assert_eq!(meant(pressed(keys), PLAIN), Meant::Typed(sent.as_bytes().to_vec()), "{keys}");
        }
        let own = Modes { has_own_arrows: true, ..PLAIN };
        assert_eq!(meant(pressed("ArrowUp"), own), Meant::Typed(b"\x1bOA".to_vec()));
        let letter = Pressed { makes_a_letter: true, ..pressed("C-A-@") };
        assert_eq!(meant(letter, PLAIN), Meant::Typed(b"@".to_vec()), "AltGr");
    }

    #[test]
    fn keys_of_the_page_and_of_the_browser_are_left_to_them() {
        for keys in ["C-`", "M-v", "C-S-V", "S-Insert", "Shift", "Dead", "Unidentified", "C-Tab", "C-,"] {
            assert_eq!(meant(pressed(keys), PLAIN), Meant::Nothing, "{keys}");
        }
        assert_eq!(meant(pressed("C-S-C"), PLAIN), Meant::Copied);
    }

    #[test]
    fn a_paste_is_text_and_cannot_end_its_own_marking() {
        let marked = Modes { brackets_pastes: true, ..PLAIN };
        assert_eq!(pasted("a\r\nb\nc\t", PLAIN), b"a\rb\rc\t");
        assert_eq!(pasted("a\x1b[201~rm\x03", marked), b"\x1b[200~a[201~rm\x1b[201~");
    }

    #[test]
    fn a_wheel_moves_three_lines_in_a_program_of_the_whole_screen() {
        assert_eq!(wheeled(true, PLAIN), b"\x1b[A\x1b[A\x1b[A");
        assert_eq!(wheeled(false, Modes { has_own_arrows: true, ..PLAIN }), b"\x1bOB\x1bOB\x1bOB");
    }
}
