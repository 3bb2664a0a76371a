//! `cargo xtask bench scale`: how large one server may become, with curves for the documents.
//!
//! An example of `testkit` does the driving, because it already knows how to run a yoi and a model server.

use std::path::PathBuf;

use anyhow::Result;

use crate::{
    build,
    run::{cargo, passes, step, target_dir, workspace},
    tools,
};

/// How much to measure, and with which binary.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    is_quick: bool,
    /// Of soak; `None` for the example's own default.
    minutes: Option<String>,
    /// An existing binary; `None` to make a release build first.
    binary: Option<PathBuf>,
}

impl Extent {
    /// Parses `[--quick] [--minutes N] [--binary PATH]`; `None` for anything else.
    pub(crate) fn parse(arguments: &[&str]) -> Option<Self> {
        let mut extent = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match *argument {
                "--binary" => extent.binary = Some((*arguments.next()?).into()),
                "--minutes" => extent.minutes = Some((*arguments.next()?).to_owned()),
                "--quick" => extent.is_quick = true,
                _ => return None,
            }
        }
        Some(extent)
    }
}

/// Returns false if it could not be measured. Only a whole run draws the pictures of the documents.
pub(crate) fn run(extent: &Extent) -> Result<bool> {
    let done = step("the size of one server", || {
        let binary = match &extent.binary {
            Some(binary) => binary.clone(),
            None => {
                tools::ensure_rust_tools()?;
                build::yoi(&["--release"])?.binary
            }
        };
        let csv = target_dir()?.join("bench-scale.csv");
        let pictures =
            if extent.is_quick { target_dir()?.join("bench-scale") } else { workspace().join("docs/pictures") };
        let mut scale = cargo(&["run", "--locked", "--quiet", "--package", "testkit", "--example", "scale", "--"]);
        scale.arg(binary).arg("--csv").arg(&csv).arg("--pictures").arg(&pictures);
        if extent.is_quick {
            scale.arg("--quick");
        }
        if let Some(minutes) = &extent.minutes {
            scale.args(["--minutes", minutes]);
        }
        let is_ok = passes(&mut scale)?;
        if is_ok {
            println!("    the points: {}; the curves: {}", csv.display(), pictures.display());
        }
        Ok(is_ok)
    });
    Ok(done.is_ok)
}

#[cfg(test)]
mod tests {
    use super::Extent;

    #[test]
    fn a_soak_has_minutes_and_every_option_its_value() {
        let extent = Extent::parse(&["--quick", "--minutes", "5"]);
        assert!(extent.is_some_and(|extent| extent.is_quick && extent.minutes.as_deref() == Some("5")));
        for wrong in [["--minutes"].as_slice(), &["--binary"], &["--only", "soak"]] {
            assert_eq!(Extent::parse(wrong), None, "{wrong:?}");
        }
    }
}
