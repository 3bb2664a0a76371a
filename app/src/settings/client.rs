//! A readable name for a browser, from its user agent. Pure.

/// User agent tokens and their browsers. Later ones also occur in the user agents of earlier ones, so the first match
/// wins.
const BROWSERS: [(&str, &str); 6] = [
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("HeadlessChrome/", "Headless Chrome"),
    ("Chrome/", "Chrome"),
    ("Version/", "Safari"),
];

/// The same for operating systems: Android's also says Linux, and an iPhone's also says Mac.
const SYSTEMS: [(&str, &str); 7] = [
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
];

/// `Firefox 145 on Linux`; an unknown user agent is returned as it is.
pub(super) fn client_words(said: &str) -> String {
    let browser = BROWSERS.iter().find_map(|(sign, name)| {
        let (_, after) = said.split_once(sign)?;
        let version: String = after.chars().take_while(char::is_ascii_digit).collect();
        (!version.is_empty()).then(|| format!("{name} {version}"))
    });
    let system = SYSTEMS.iter().find(|(sign, _)| said.contains(sign)).map(|(_, name)| *name);
    match (browser, system, said) {
        (Some(browser), Some(system), _) => format!("{browser} on {system}"),
        (Some(browser), None, _) => browser,
        (None, _, "") => "unknown browser".to_owned(),
        (None, _, said) => said.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_told_by_name_and_others_as_they_call_themselves() {
        let like = "AppleWebKit/537.36 (KHTML, like Gecko)";
        for (said, words) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0".to_owned(),
                "Firefox 145 on Linux",
            ),
            (format!("Mozilla/5.0 (Windows NT 10.0) {like} Chrome/142.0.0.0 Safari/537.36"), "Chrome 142 on Windows"),
            (
                format!("Mozilla/5.0 (Windows NT 10.0) {like} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.1"),
                "Edge 142 on Windows",
            ),
            (format!("Mozilla/5.0 (Linux; Android 10; K) {like} Chrome/142.0.0.0 Mobile"), "Chrome 142 on Android"),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) Version/26.0 Mobile Safari/604.1".to_owned(),
                "Safari 26 on iPhone",
            ),
            ("curl/8.5.0".to_owned(), "curl/8.5.0"),
            ("Desk <b>browser</b>".to_owned(), "Desk <b>browser</b>"),
            (String::new(), "unknown browser"),
        ] {
            assert_eq!(client_words(&said), words, "{said}");
        }
    }
}
