//! The command line, as it is typed. What a flag leaves out, [`crate::config`] fills in.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use protocol::ControlVerb;

/// A console for durable LLM agents. Without a verb: the same as `yoi serve`.
#[derive(Debug, Parser)]
#[command(name = "yoi", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    #[command(flatten)]
    pub(crate) serve: ServeOptions,
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

/// Options of every verb.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct CommonOptions {
    /// The server to talk to (YOI_SERVER); by default the one that uses the data folder
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Folder of the database and the token (YOI_DATA); by default yoi's in the XDG data directory
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Configuration file (YOI_CONFIG); by default yoi/config.toml in the XDG config directory, if it is there
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON: one document, or one line for each event
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Options of `serve`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Options of serve")]
pub(crate) struct ServeOptions {
    /// Address and port to listen on (YOI_LISTEN); 127.0.0.1:7474 by default, port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<String>,
    /// sqlite://PATH or postgres://… (YOI_DATABASE); by default a file in the data folder
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,
    /// Another host name that requests may use; can be given several times
    #[arg(long = "allow-host", value_name = "NAME")]
    pub(crate) allow_hosts: Vec<String>,
    /// The name that this server announces to other servers; by default the host's
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Serve the Pods behind the sockets of the older protocol in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) compat_sockets: Option<PathBuf>,
    /// Open the console in a browser
    #[arg(long)]
    pub(crate) open: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Start the server (the default)
    Serve(ServeOptions),
    /// Print the token
    Token,
    /// List the Pods
    Ls,
    /// Make a Pod
    New(NewOptions),
    /// Send a message to a Pod
    Send(SendOptions),
    /// Print the records of a Pod
    Log(LogOptions),
    /// Follow what happens in all Pods
    Events(EventsOptions),
    /// Pause the run of a Pod
    Pause(TargetOption),
    /// Go on with a paused run
    Resume(TargetOption),
    /// End the run of a Pod
    Cancel(TargetOption),
    /// Stop a Pod; `restore` brings it back
    Stop(TargetOption),
    /// Bring a stopped Pod back
    Restore(TargetOption),
    /// Remove a Pod with all that it holds
    Rm(RmOptions),
    /// Say what works and what is missing
    Doctor,
    /// Print completions for a shell
    Completions { shell: Shell },
    /// The console in this terminal
    Tui(TuiOptions),
}

impl Verb {
    /// The control verb and its target, for the five that are one.
    pub(crate) fn as_control(&self) -> Option<(ControlVerb, &str)> {
        let (verb, option) = match self {
            Self::Pause(option) => (ControlVerb::Pause, option),
            Self::Resume(option) => (ControlVerb::Resume, option),
            Self::Cancel(option) => (ControlVerb::Cancel, option),
            Self::Stop(option) => (ControlVerb::Stop, option),
            Self::Restore(option) => (ControlVerb::Restore, option),
            _ => return None,
        };
        Some((verb, &option.target))
    }
}

#[derive(Debug, Args)]
pub(crate) struct TargetOption {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME")]
    pub(crate) target: String,
}

#[derive(Debug, Args)]
pub(crate) struct NewOptions {
    /// A-Z a-z 0-9 . _ - and at most 64 of them
    pub(crate) name: String,
    /// By default the server's first one
    #[arg(long)]
    pub(crate) provider: Option<String>,
    /// By default the provider's first one
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// A recipe of the server's configuration
    #[arg(long)]
    pub(crate) profile: Option<String>,
    /// Working directory; by default the one that the server was started in
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// What the model is told before anything else
    #[arg(long, value_name = "TEXT")]
    pub(crate) instructions: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SendOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME")]
    pub(crate) target: String,
    /// The message; a single - reads it from standard input
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    /// Fail instead of waiting for the present run to end
    #[arg(long)]
    pub(crate) no_queue: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LogOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME")]
    pub(crate) target: String,
    /// Go on with what happens now, until interrupted
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// How many of the newest records
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) limit: u32,
}

#[derive(Debug, Args)]
pub(crate) struct EventsOptions {
    /// Begin after this cursor in the Pod that it belongs to, instead of now
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RmOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME")]
    pub(crate) target: String,
    /// Do it; it cannot be undone
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TuiOptions {
    /// The Pod to open: NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", conflicts_with_all = ["runtime", "worker"])]
    pub(crate) target: Option<String>,
    /// Runtime of the Pod to open
    #[arg(long, value_name = "ID", requires = "worker")]
    pub(crate) runtime: Option<String>,
    /// The Pod to open, by its id
    #[arg(long, value_name = "ID", requires = "runtime")]
    pub(crate) worker: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, error::ErrorKind};

    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split(' '))
    }

    #[test]
    fn the_definition_holds() {
        Cli::command().debug_assert();
    }

    #[test]
    fn serve_is_the_verb_that_may_be_left_out() {
        let bare = parse("yoi --listen 127.0.0.1:0 --data /d --allow-host a --allow-host b").unwrap();
        let named = parse("yoi serve --listen 127.0.0.1:0 --data /d --allow-host a --allow-host b").unwrap();
        let Some(Verb::Serve(serve)) = named.verb else { panic!("{named:?}") };
        assert!(bare.verb.is_none());
        assert_eq!((bare.serve, bare.common), (serve.clone(), named.common));
        assert_eq!(serve.allow_hosts, ["a", "b"]);
    }

    #[test]
    fn common_options_stand_before_or_after_the_verb() {
        for line in ["yoi ls --server http://x --data /d --json", "yoi --server http://x --data /d --json ls"] {
            let cli = parse(line).unwrap();
            let expected =
                CommonOptions { server: Some("http://x".into()), data: Some("/d".into()), config: None, json: true };
            assert_eq!(cli.common, expected, "{line}");
        }
    }

    #[test]
    fn a_message_is_all_that_follows_the_name() {
        let Some(Verb::Send(send)) = parse("yoi send ada say hello --no-queue").unwrap().verb else { panic!() };
        assert_eq!((send.target.as_str(), send.text, send.no_queue), ("ada", vec!["say".into(), "hello".into()], true));
        assert_eq!(parse("yoi send ada").unwrap_err().kind(), ErrorKind::MissingRequiredArgument);
    }

    #[test]
    fn every_control_verb_takes_one_target() {
        for verb in ControlVerb::ALL {
            let cli = parse(&format!("yoi {} ada@box", verb.as_str())).unwrap();
            assert_eq!(cli.verb.as_ref().and_then(Verb::as_control), Some((verb, "ada@box")));
        }
    }

    #[test]
    fn an_address_of_a_pod_needs_both_halves() {
        assert!(parse("yoi tui --runtime local --worker 1").is_ok());
        for line in ["yoi tui --runtime local", "yoi tui --worker 1", "yoi tui ada --runtime local --worker 1"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
