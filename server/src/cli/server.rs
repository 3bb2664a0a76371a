//! What the verbs take that are about the server, or about this program.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::options::ServeOptions;

#[derive(Debug, Args)]
pub(crate) struct ProvidersOptions {
    #[command(subcommand)]
    pub(crate) verb: Option<ProvidersVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProvidersVerb {
    /// Ask a provider now, or all of them, whether they work
    Test {
        /// This one alone
        name: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RuntimesOptions {
    #[command(subcommand)]
    pub(crate) verb: Option<RuntimesVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RuntimesVerb {
    /// Add another yoi: its Pods are listed, read and worked with here
    Add(AddRuntimeOptions),
    /// Forget another yoi; its Pods stay where they are
    Remove {
        /// What it is called here
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AddRuntimeOptions {
    /// What to call it here: a-z 0-9 - and at most 32 of them
    pub(crate) name: String,
    /// Its address, http://… or https://…
    pub(crate) url: String,
    /// A file with what `yoi token` prints there; a single - reads it from standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct TokenOptions {
    /// Write it as a header to a file that only you read, and print the file's name: `curl -H @"$(yoi token --header)" …`
    #[arg(long)]
    pub(crate) header: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OpenOptions {
    /// Start nothing; print an address that logs one browser in, once, within a minute
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SignOutOptions {
    /// Which login; `yoi sessions` lists them
    #[arg(value_name = "ID", required_unless_present = "all")]
    pub(crate) id: Option<String>,
    /// Every browser
    #[arg(long, conflicts_with = "id")]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorOptions {
    /// Do not ask the providers
    #[arg(long)]
    pub(crate) no_test: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServiceVerb {
    /// Write the unit of this program and its options, and start it
    Install(InstallOptions),
    /// Stop it and remove the unit
    Uninstall(UninstallOptions),
    /// Say whether there is a unit, and whether it runs
    Status,
}

#[derive(Debug, Args)]
pub(crate) struct InstallOptions {
    #[command(flatten)]
    pub(crate) serve: ServeOptions,
    /// Print the unit and write nothing
    #[arg(long, visible_alias = "print", help_heading = None)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallOptions {
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ManOptions {
    /// Write the pages of all verbs into this folder; without it the first page is printed
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}
