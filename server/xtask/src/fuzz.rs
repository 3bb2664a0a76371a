//! `cargo xtask fuzz`: the fuzz targets for as long as you like. Plain `cargo test` runs each for a second or two.
//!
//! The inputs are random, made by bolero's own engine; docs/decisions/0093 says why no coverage guides them.

use anyhow::Result;

use crate::run::{Step, cargo, passes, step};

/// A target: its name, its package, where its test is, and the test.
#[derive(Debug, PartialEq, Eq)]
struct Target {
    name: &'static str,
    package: &'static str,
    place: &'static [&'static str],
    test: &'static str,
}

const fn target(
    name: &'static str,
    package: &'static str,
    place: &'static [&'static str],
    test: &'static str,
) -> Target {
    Target { name, package, place, test }
}

const TESTS: &[&str] = &["--test", "fuzz"];
const LIB: &[&str] = &["--lib"];

const TARGETS: &[Target] = &[
    target("cursors", "protocol", TESTS, "only_what_was_sealed_opens"),
    target("json", "protocol", TESTS, "json_is_read_as_everybody_reads_it_unless_a_key_stands_twice"),
    target("frames", "protocol", TESTS, "a_frame_that_is_read_is_the_same_when_it_is_written"),
    target("socket", "api", LIB, "events::asked::fuzz::whatever_comes_on_the_socket_is_a_frame_or_is_refused"),
    target("pages", "client", LIB, "raw::fuzz::records_are_cut_out_as_a_reader_of_the_whole_finds_them"),
    target("records", "transcript", TESTS, "records_in_any_order_are_drawn_in_bounded_room"),
    target("markdown", "transcript", TESTS, "markdown_that_streams_is_drawn_as_the_whole_is"),
    target("output", "transcript", TESTS, "nothing_in_an_output_reaches_the_screen_but_letters"),
    target("scope", "pod", TESTS, "no_path_outside_of_the_scope_is_allowed"),
    target("rules", "tools", TESTS, "no_rule_for_words_covers_an_expansion_or_a_redirection"),
    target("older-pods", "compat", LIB, "translate::fuzz::whatever_an_older_pod_says_becomes_records"),
    target("acp-lines", "acp", LIB, "wire::fuzz::a_line_of_an_agent_is_a_message_or_nothing"),
    target("acp-updates", "acp", LIB, "translate::fuzz::whatever_an_agent_says_becomes_bounded_pieces"),
    target("mcp-templates", "mcp", LIB, "template::fuzz::a_template_proposes_only_what_fits_it"),
    target("mcp-forms", "mcp", LIB, "form::fuzz::a_form_takes_nothing_that_it_did_not_ask_for"),
];

/// Which targets, and how long each.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    targets: Vec<&'static Target>,
    minutes: u64,
}

impl Extent {
    /// `None` if an argument is unknown. Without a name all targets run, each for five minutes.
    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let (mut targets, mut minutes) = (Vec::new(), 5);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--minutes" => minutes = words.next()?.parse().ok().filter(|minutes| *minutes > 0)?,
                name => targets.push(TARGETS.iter().find(|target| target.name == name)?),
            }
        }
        if targets.is_empty() {
            targets = TARGETS.iter().collect();
        }
        Some(Self { targets, minutes })
    }
}

/// Returns false if a target fails; bolero prints the input, made as small as it can be.
pub(crate) fn run(extent: &Extent) -> Result<bool> {
    let steps: Vec<Step> =
        extent.targets.iter().map(|target| step(target.name, || fuzz(target, extent.minutes))).collect();
    Ok(steps.iter().all(|step| step.is_ok))
}

fn fuzz(target: &Target, minutes: u64) -> Result<bool> {
    let mut test = cargo(&["test", "--locked", "--quiet", "--package", target.package]);
    test.args(target.place).args(["--", "--exact", target.test]);
    test.env("BOLERO_RANDOM_TEST_TIME_MS", (minutes * 60_000).to_string());
    test.env("BOLERO_RANDOM_ITERATIONS", usize::MAX.to_string());
    passes(&mut test)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    use super::*;
    use crate::run::workspace;

    #[test]
    fn all_targets_run_for_five_minutes_unless_something_else_is_said() {
        let of = |words: &[&str]| Extent::parse(words).map(|extent| (extent.targets.len(), extent.minutes));
        assert_eq!((of(&[]), of(&["scope", "--minutes", "60"])), (Some((TARGETS.len(), 5)), Some((1, 60))));
        assert_eq!((of(&["nonsense"]), of(&["--minutes"]), of(&["--minutes", "0"])), (None, None, None));
    }

    #[test]
    fn every_target_is_a_test_of_its_package() {
        let mut names = BTreeSet::new();
        for target in TARGETS {
            assert!(names.insert(target.name), "{} stands twice", target.name);
            let package = workspace().join("server/crates").join(target.package);
            let (modules, test) = target.test.rsplit_once("::").unwrap_or(("", target.test));
            let file = match target.place {
                TESTS => package.join("tests/fuzz.rs"),
                _ => package.join("src").join(modules.replace("::", "/")).with_extension("rs"),
            };
            let source = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            assert!(source.contains(&format!("fn {test}()")), "{} is not in {}", target.test, file.display());
        }
    }
}
