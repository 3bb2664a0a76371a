//! What to measure.

use std::path::PathBuf;

const USAGE: &str = "usage: web PATH_OF_YOI [--only load|open|switch|frames|heap|lighthouse]… [--quick] [--json FILE]";

/// In the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topic {
    Load,
    Open,
    Switch,
    Frames,
    Heap,
    /// Needs npm, so it runs only on request.
    Lighthouse,
}

impl Topic {
    const ALL: [Self; 6] = [Self::Load, Self::Open, Self::Switch, Self::Frames, Self::Heap, Self::Lighthouse];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Open => "open",
            Self::Switch => "switch",
            Self::Frames => "frames",
            Self::Heap => "heap",
            Self::Lighthouse => "lighthouse",
        }
    }
}

/// The command line of this benchmark.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) binary: String,
    only: Vec<Topic>,
    /// Fewer rounds and shorter streams: to check that it works, not to quote.
    pub(crate) is_quick: bool,
    pub(crate) json: Option<PathBuf>,
}

impl Options {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().cloned().ok_or_else(|| format!("{argument} wants a value\n{USAGE}"));
            match argument.as_str() {
                "--only" => options.only.push(topic(&value()?)?),
                "--quick" => options.is_quick = true,
                "--json" => options.json = Some(value()?.into()),
                path if options.binary.is_empty() && !path.starts_with('-') => options.binary = path.to_owned(),
                other => return Err(format!("{other:?} is not known here\n{USAGE}")),
            }
        }
        if options.binary.is_empty() { Err(USAGE.to_owned()) } else { Ok(options) }
    }

    pub(crate) fn topics(&self) -> impl Iterator<Item = Topic> {
        let is_wanted = |topic: &Topic| match self.only.is_empty() {
            true => *topic != Topic::Lighthouse,
            false => self.only.contains(topic),
        };
        Topic::ALL.into_iter().filter(is_wanted)
    }
}

fn topic(name: &str) -> Result<Topic, String> {
    let known = Topic::ALL.into_iter().find(|topic| topic.name() == name);
    known.ok_or_else(|| format!("there is no topic {name:?}\n{USAGE}"))
}
