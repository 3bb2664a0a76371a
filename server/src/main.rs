//! `yoi`: puts the parts together and decides nothing.
//!
//! Exit codes: 0 done, 1 refused or failed, 2 usage or a bad configuration, 3 no server.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod caller;
mod cli;
mod commands;
mod compat_sockets;
mod config;
mod data_dir;
mod host_name;
#[cfg(target_os = "linux")]
mod idle_memory;
mod logging;
mod open_files;
mod opening;
mod options;
mod output;
mod own_name;
mod pages;
mod serve;
mod signals;
mod socket;
mod token;
mod web;

use std::{process::ExitCode, time::Duration};

use anyhow::{Context, Result};
use clap::{CommandFactory, Parser};
use clap_complete::CompleteEnv;
use client::ClientError;

use crate::{
    cli::{Cli, Verb},
    config::{BadConfig, Environment},
    options::ServeOptions,
};

/// How long to wait at the end for anything left over, such as a shell that a tool started.
const LEFT_OVER_WAIT: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    // This program is started again to run a Pod's command, which has to be detected before threads and the command
    // line.
    if let Some(code) = tools::bash::helper_main(std::env::args_os().skip(1)) {
        return code;
    }
    // Answers a shell's request for completions, and then exits.
    CompleteEnv::with_factory(Cli::command).var(commands::VARIABLE).complete();
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&error);
            exit_code(&error)
        }
    }
}

fn run(cli: Cli) -> Result<()> {
    let environment = Environment::of_process();
    output::start(&environment);
    let Cli { common, serve, verb } = cli;
    if verb.is_some() && serve != ServeOptions::default() {
        let sentence = "options of serve go after the verb serve, or without a verb; see `yoi --help`";
        return Err(BadConfig(sentence.to_owned()).into());
    }
    match verb.unwrap_or(Verb::Serve(serve)) {
        Verb::Serve(serve) => block_on(serve::serve(common, serve, environment)),
        Verb::Completions { shell } => commands::completions(shell),
        Verb::Man(options) => commands::man(options),
        Verb::Service(verb) => commands::service(verb, &common, &environment),
        Verb::Doctor(options) => block_on(commands::doctor(options, &common, &environment)),
        Verb::Token(options) => commands::token(&options, &common, &environment),
        verb => block_on(commands::run(verb, common, environment)),
    }
}

fn block_on(work: impl Future<Output = Result<()>>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(pages::STACK_BYTES)
        .build()
        .context("the system gave no threads to work with")?;
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(LEFT_OVER_WAIT);
    done
}

fn exit_code(error: &anyhow::Error) -> ExitCode {
    let code = match (error.downcast_ref::<BadConfig>(), error.downcast_ref::<ClientError>()) {
        (Some(_), _) | (_, Some(ClientError::Invalid(_))) => 2,
        (_, Some(ClientError::NoServer { .. })) => 3,
        _ => 1,
    };
    ExitCode::from(code)
}
