//! What to measure.

use std::path::PathBuf;

const USAGE: &str = "usage: whole [--only start|crash|memory|create|commands|delta|burst|agents|history|turns|size|growth]… [--long] \
                     [--json FILE] [--criterion DIR]";

/// The command line of this benchmark.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Topics by name; empty for all.
    only: Vec<String>,
    /// Also the large end of growth: 10,000 Pods and 1,000,000 records.
    pub(crate) is_long: bool,
    pub(crate) json: Option<PathBuf>,
    /// Where criterion left its estimates: their figures for the goals go into the same table.
    pub(crate) criterion: Option<PathBuf>,
}

impl Options {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().cloned().ok_or_else(|| format!("{argument} wants a value\n{USAGE}"));
            match argument.as_str() {
                "--only" => options.only.push(value()?),
                "--long" => options.is_long = true,
                "--json" => options.json = Some(value()?.into()),
                "--criterion" => options.criterion = Some(value()?.into()),
                // Added by cargo.
                "--bench" => {}
                other => return Err(format!("{other:?} is not known here\n{USAGE}")),
            }
        }
        let unknown = options.only.iter().find(|name| !crate::TOPICS.iter().any(|(topic, _)| topic == name));
        match unknown {
            Some(name) => Err(format!("there is no topic {name:?}\n{USAGE}")),
            None => Ok(options),
        }
    }

    pub(crate) fn wants(&self, topic: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == topic)
    }
}
