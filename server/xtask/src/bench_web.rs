//! `cargo xtask bench web` and `cargo xtask bench lighthouse`: the console in a real browser, against its goals.
//!
//! An example of `testkit` does the driving, because it already knows how to run a yoi and a browser.

use std::path::PathBuf;

use anyhow::Result;

use crate::{
    build,
    run::{cargo, passes, step, target_dir},
    tools,
};

/// The topic that needs npm.
const LIGHTHOUSE: &str = "lighthouse";

/// What to measure, and with which binary.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Topics by name; empty means all but Lighthouse.
    only: Vec<String>,
    /// Fewer rounds and shorter streams.
    is_quick: bool,
    /// An existing binary; `None` to make a release build first.
    binary: Option<PathBuf>,
}

impl Extent {
    /// Parses `web` or `lighthouse` and its options; `None` for anything else.
    pub(crate) fn parse(what: &str, arguments: &[&str]) -> Option<Self> {
        let mut extent = Self::default();
        if what == LIGHTHOUSE {
            extent.only.push(LIGHTHOUSE.to_owned());
        }
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match *argument {
                "--binary" => extent.binary = Some((*arguments.next()?).into()),
                "--only" if what != LIGHTHOUSE => extent.only.push((*arguments.next()?).to_owned()),
                "--quick" => extent.is_quick = true,
                _ => return None,
            }
        }
        Some(extent)
    }

    fn is_lighthouse(&self) -> bool {
        self.only.iter().any(|topic| topic == LIGHTHOUSE)
    }
}

/// Returns false if it could not be measured. Missing a goal is not a failure.
pub(crate) fn run(extent: &Extent) -> Result<bool> {
    if extent.is_lighthouse() && !tools::is_in_path("npx") {
        println!("    Lighthouse comes by npm, and npx is not in the PATH: nothing was measured.");
        println!("    On Debian or Ubuntu, as root: apt-get install -y npm; then again");
        return Ok(false);
    }
    let done = step("the console in a browser", || {
        tools::ensure_browser()?;
        let binary = match &extent.binary {
            Some(binary) => binary.clone(),
            None => {
                tools::ensure_rust_tools()?;
                build::yoi(&["--release"])?.binary
            }
        };
        let name = if extent.is_lighthouse() { "bench-lighthouse.json" } else { "bench-web.json" };
        let json = target_dir()?.join(name);
        let mut web = cargo(&["run", "--locked", "--quiet", "--package", "testkit", "--example", "web", "--"]);
        web.arg(binary).arg("--json").arg(&json);
        for topic in &extent.only {
            web.args(["--only", topic]);
        }
        if extent.is_quick {
            web.arg("--quick");
        }
        let is_ok = passes(&mut web)?;
        if is_ok {
            println!("    the same as JSON: {}", json.display());
        }
        Ok(is_ok)
    });
    Ok(done.is_ok)
}

#[cfg(test)]
mod tests {
    use super::Extent;

    #[test]
    fn lighthouse_is_a_topic_of_its_own_and_takes_no_other() {
        let alone = Extent::parse("lighthouse", &["--binary", "yoi"]);
        assert!(alone.is_some_and(|extent| extent.is_lighthouse() && extent.binary.is_some()));
        assert_eq!(Extent::parse("lighthouse", &["--only", "load"]), None);
        let web = Extent::parse("web", &["--only", "load", "--only", "heap", "--quick"]);
        assert!(web.is_some_and(|extent| extent.only == ["load", "heap"] && extent.is_quick));
        assert_eq!(Extent::parse("web", &["--binary"]), None);
    }
}
