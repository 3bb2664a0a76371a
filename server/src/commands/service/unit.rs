//! The text of the unit file.

use std::path::Path;

use crate::options::{CommonOptions, ServeOptions};

/// A unit that starts this program with these arguments.
pub(super) fn unit(program: &str, words: &[String]) -> String {
    let words: Vec<_> = std::iter::once(program).chain(words.iter().map(String::as_str)).map(quoted).collect();
    format!(
        "# Written by `yoi service install`, which overwrites it.\n\
         [Unit]\n\
         Description=yoi, a console for durable LLM agents\n\
         Documentation=man:yoi(1)\n\
         \n\
         [Service]\n\
         Type=exec\n\
         ExecStart={}\n\
         WorkingDirectory=%h\n\
         # Keys of providers: NAME=value, a line each.\n\
         EnvironmentFile=-%E/yoi/environment\n\
         Restart=on-failure\n\
         RestartSec=2\n\
         # A bad configuration does not get better by itself.\n\
         RestartPreventExitStatus=2\n\
         # Commands of Pods are ended by yoi itself, after it has noted where they were.\n\
         KillMode=mixed\n\
         TimeoutStopSec=10\n\
         # A command that takes all memory is killed alone.\n\
         OOMPolicy=continue\n\
         # Each command has a group of its own, with limits for the whole of it.\n\
         Delegate=yes\n\
         NoNewPrivileges=yes\n\
         UMask=0077\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n",
        words.join(" ")
    )
}

/// The program's arguments: `serve` and the given options, with absolute paths.
pub(super) fn words(common: &CommonOptions, serve: &ServeOptions) -> Result<Vec<String>, String> {
    let mut words = vec!["serve".to_owned()];
    let mut add = |option: &str, value: Option<String>| {
        if let Some(value) = value {
            words.extend([option.to_owned(), value]);
        }
    };
    add("--listen", serve.listen.clone());
    add("--socket", path("--socket", serve.socket.as_deref())?);
    add("--data", path("--data", common.data.as_deref())?);
    add("--config", path("--config", common.config.as_deref())?);
    add("--database", serve.database.clone());
    add("--name", serve.name.clone());
    for host in &serve.allow_hosts {
        add("--allow-host", Some(host.clone()));
    }
    match words.iter().find(|word| word.contains(['\n', '\r', '\0'])) {
        Some(word) => Err(format!("{word:?} cannot be used in a systemd unit")),
        None => Ok(words),
    }
}

fn path(option: &str, path: Option<&Path>) -> Result<Option<String>, String> {
    let Some(path) = path else { return Ok(None) };
    let absolute = std::path::absolute(path).map_err(|error| format!("{option} {}: {error}", path.display()))?;
    absolute.into_os_string().into_string().map(Some).map_err(|_| format!("{option} has to be valid UTF-8"))
}

/// Quoted as one word of `ExecStart`: systemd interprets quotes, `%x` and `$X`.
fn quoted(word: &str) -> String {
    let text = word.replace('%', "%%").replace('$', "$$");
    let is_plain = |char: char| char.is_alphanumeric() || "/._-:@+=,%$~".contains(char);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text,
        false => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_survives_systemd() {
        for (word, expected) in [
            ("/usr/bin/yoi", "/usr/bin/yoi"),
            ("/my folder/yoi", "\"/my folder/yoi\""),
            ("100%", "100%%"),
            ("a$b", "a$$b"),
            ("say \"hi\" \\", "\"say \\\"hi\\\" \\\\\""),
            ("", "\"\""),
            ("a;b", "\"a;b\""),
        ] {
            assert_eq!(quoted(word), expected, "{word}");
        }
    }

    #[test]
    fn what_was_given_is_what_is_started() {
        let common = CommonOptions { data: Some("/d".into()), ..CommonOptions::default() };
        let serve = ServeOptions {
            listen: Some("127.0.0.1:1".into()),
            allow_hosts: vec!["a".into(), "b".into()],
            ..ServeOptions::default()
        };
        let words = words(&common, &serve).unwrap();
        assert_eq!(words.join(" "), "serve --listen 127.0.0.1:1 --data /d --allow-host a --allow-host b");
        assert!(unit("/yoi", &words).contains("\nExecStart=/yoi serve --listen 127.0.0.1:1 --data /d --allow-host"));
        let evil = ServeOptions { name: Some("a\nExecStart=/evil".into()), ..ServeOptions::default() };
        assert!(super::words(&common, &evil).is_err());
    }
}
