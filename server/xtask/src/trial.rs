//! `cargo xtask trial`: the built binary through kills, failing disks, faults, failovers and large sizes, as often as you
//! like, with the figures of this machine.
//!
//! An example of `testkit` does the driving, because it already knows how to run a yoi and to watch it.

use std::path::PathBuf;

use anyhow::Result;

use crate::{
    build,
    run::{cargo, passes, step},
    tools,
};

/// Which trial, and with which binary.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The arguments of the example: the trial's name, and its options.
    words: Vec<String>,
    /// An existing binary; `None` to make a release build first.
    binary: Option<PathBuf>,
}

impl Extent {
    /// `None` if the arguments fit no trial.
    pub(crate) fn parse(arguments: &[&str]) -> Option<Self> {
        let (name, rest) = arguments.split_first()?;
        let mut extent = Self { words: vec![(*name).to_owned()], binary: None };
        let mut rest = rest.iter();
        while let Some(argument) = rest.next() {
            match (*name, *argument) {
                ("kill" | "disk" | "fault" | "size" | "postgres", "--binary") => {
                    extent.binary = Some((*rest.next()?).into())
                }
                ("kill" | "disk" | "postgres", "--rounds") => {
                    extent.words.extend(["--rounds", *rest.next()?].map(str::to_owned))
                }
                _ => return None,
            }
        }
        matches!(*name, "kill" | "disk" | "fault" | "size" | "postgres").then_some(extent)
    }
}

/// Returns false if something was lost, duplicated or wrongly refused.
pub(crate) fn run(extent: &Extent) -> Result<bool> {
    let done = step("trial", || {
        if extent.words.first().is_some_and(|name| name == "postgres") {
            tools::ensure_patroni()?;
        }
        let binary = match &extent.binary {
            Some(binary) => binary.clone(),
            None => {
                tools::ensure_rust_tools()?;
                build::yoi(&["--release"])?.binary
            }
        };
        let mut trial = cargo(&["run", "--locked", "--quiet", "--package", "testkit", "--example", "trial", "--"]);
        passes(trial.arg(binary).args(&extent.words))
    });
    Ok(done.is_ok)
}

#[cfg(test)]
mod tests {
    use super::Extent;

    #[test]
    fn a_trial_has_a_name_and_takes_what_belongs_to_it() {
        let kill = Extent::parse(&["kill", "--rounds", "5", "--binary", "yoi"]);
        assert!(kill.is_some_and(|extent| extent.words == ["kill", "--rounds", "5"] && extent.binary.is_some()));
        for wrong in [[].as_slice(), &["size", "--rounds", "5"], &["kill", "--binary"], &["nothing"]] {
            assert_eq!(Extent::parse(wrong), None, "{wrong:?}");
        }
    }
}
