//! Small letters, for comparisons that do not ask for case.

/// The text in small letters: by the browser's tables in the browser, which spares the console's module 12 kB of its own.
pub fn lower(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    #[cfg(target_arch = "wasm32")]
    return js_sys::JsString::from(text).to_lower_case().into();
    #[cfg(not(target_arch = "wasm32"))]
    text.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alphabet_has_its_small_letters() {
        assert_eq!(lower("Pod-7 RUNS"), "pod-7 runs");
        assert_eq!(lower("ÄRGER in ΣΑΜΟΣ"), "ärger in σαμος");
    }
}
