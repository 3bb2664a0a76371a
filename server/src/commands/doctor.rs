//! What is configured, what works, what is ignored, and why. Never prints a key or a token.

mod local;
mod remote;

use anyhow::{Result, bail};
use protocol::{ProviderView, UnconfiguredProvider, WallItem};
use serde::Serialize;

use super::Caller;
use crate::{
    cli::DoctorOptions,
    config::{Config, Environment},
    options::{CommonOptions, ServeOptions},
    output,
};

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Finding {
    about: &'static str,
    state: State,
    /// A sentence; for a problem, with the way out.
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Ok,
    /// Works, but worth knowing.
    Note,
    /// Does not work as intended.
    Broken,
}

/// All results.
#[derive(Debug, Default, Serialize)]
struct Report {
    server: Option<String>,
    data: Option<String>,
    commands_confined: bool,
    walls: Vec<WallItem>,
    findings: Vec<Finding>,
    providers: Vec<ProviderView>,
    unconfigured: Vec<UnconfiguredProvider>,
}

impl Report {
    fn add(&mut self, about: &'static str, state: State, text: impl Into<String>) {
        self.findings.push(Finding { about, state, text: text.into() });
    }

    fn ok(&mut self, about: &'static str, text: impl Into<String>) {
        self.add(about, State::Ok, text);
    }

    fn note(&mut self, about: &'static str, text: impl Into<String>) {
        self.add(about, State::Note, text);
    }

    fn broken(&mut self, about: &'static str, text: impl Into<String>) {
        self.add(about, State::Broken, text);
    }

    fn print(&self) -> Result<()> {
        let width = self.findings.iter().map(|finding| finding.about.len()).max().unwrap_or_default();
        for Finding { about, state, text } in &self.findings {
            let mark = match state {
                State::Ok => "ok    ",
                State::Note => "note  ",
                State::Broken => "BROKEN",
            };
            output::line(&output::printable(&format!("{mark}  {about:width$}  {text}")).replace('\n', " "))?;
        }
        Ok(())
    }
}

/// Runs all checks and prints the results.
///
/// # Errors
/// A bad configuration (exit 2), no server (3), or something broken (1); the results are printed first.
pub(crate) async fn doctor(options: DoctorOptions, common: &CommonOptions, environment: &Environment) -> Result<()> {
    let mut report = Report::default();
    let ended = look(&mut report, &options, common, environment).await;
    local::walls_found(&mut report);
    match common.json {
        true => output::json(&report)?,
        false => report.print()?,
    }
    ended?;
    match report.findings.iter().filter(|finding| finding.state == State::Broken).count() {
        0 => Ok(()),
        1 => bail!("1 problem"),
        count => bail!("{count} problems"),
    }
}

async fn look(
    report: &mut Report,
    options: &DoctorOptions,
    common: &CommonOptions,
    environment: &Environment,
) -> Result<()> {
    let config = Config::load(common, &ServeOptions::default(), environment);
    local::commands(report, config.as_ref().map(|config| config.commands.builder()).unwrap_or_default());
    let used = config.as_ref().map(|config| config.key_variables.as_slice()).unwrap_or_default();
    local::variables(report, environment, used);
    let config = match config {
        Ok(config) => config,
        Err(error) => {
            report.broken("configuration", error.to_string());
            return Err(error.into());
        }
    };
    local::configuration(report, &config, environment);
    local::limits(report, &config);
    local::data_folder(report, &config);
    local::token(report, &config);
    local::database(report, &config).await;
    local::service(report);
    let caller = Caller::new(common, environment)?;
    let is_named = common.server.is_some() || environment.text("YOI_SERVER").is_some();
    remote::server(report, &caller, &config, is_named, !options.no_test).await
}
