//! The command line, as it is typed. What a flag leaves out, [`crate::config`] fills in.

mod options;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use protocol::ControlVerb;

pub(crate) use self::options::*;

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
    Restore(RestoreOptions),
    /// Put a summary in the place of a Pod's older conversation
    Compact(TargetOption),
    /// Take what came after a record out of a Pod's conversation
    Rewind(RewindOptions),
    /// Introduce two Pods to each other
    Peer(PeerOptions),
    /// End what two Pods are to each other, or withdraw a request
    Unpeer(PairOptions),
    /// List whom a Pod knows
    Peers(TargetOption),
    /// List the introductions that wait for an answer
    Requests(RequestsOptions),
    /// Accept an introduction
    Accept(RequestOptions),
    /// Decline an introduction
    Decline(RequestOptions),
    /// Send a message from one Pod to another that it knows
    Message(MessageOptions),
    /// Deliver a message that is held
    Release(HeldOptions),
    /// Refuse a message that is held
    Drop(HeldOptions),
    /// List what Pods ask
    Approvals(ApprovalsOptions),
    /// Answer what a Pod asks: allow it
    Approve(ApproveOptions),
    /// Run a tool as a Pod would
    Tool(ToolOptions),
    /// Find words in what all Pods said, called and read
    Search(SearchOptions),
    /// Print a Pod's whole transcript
    Export(ExportOptions),
    /// Make a stopped Pod with the history of an export
    Import(ImportOptions),
    /// Print the tokens that were used, and their cost
    Usage,
    /// Print who did what
    Audit(AuditOptions),
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
    /// The control verb and its target, for those that are no more than that.
    pub(crate) fn as_control(&self) -> Option<(ControlVerb, &str)> {
        let (verb, option) = match self {
            Self::Pause(option) => (ControlVerb::Pause, option),
            Self::Resume(option) => (ControlVerb::Resume, option),
            Self::Cancel(option) => (ControlVerb::Cancel, option),
            Self::Stop(option) => (ControlVerb::Stop, option),
            Self::Compact(option) => (ControlVerb::Compact, option),
            _ => return None,
        };
        Some((verb, &option.target))
    }
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
        for verb in ControlVerb::ALL.into_iter().filter(|verb| *verb != ControlVerb::Restore) {
            let cli = parse(&format!("yoi {} ada@box", verb.as_str())).unwrap();
            assert_eq!(cli.verb.as_ref().and_then(Verb::as_control), Some((verb, "ada@box")));
        }
    }

    #[test]
    fn an_introduction_names_two_pods_and_may_have_a_note() {
        let Some(Verb::Peer(peer)) = parse("yoi peer ada bob@box --note hello").unwrap().verb else { panic!() };
        let named = (peer.source.as_str(), peer.target.as_str(), peer.note.as_deref());
        assert_eq!(named, ("ada", "bob@box", Some("hello")));
        for line in ["yoi peer ada", "yoi unpeer ada", "yoi peers", "yoi accept ada", "yoi message ada bob"] {
            assert_eq!(parse(line).unwrap_err().kind(), ErrorKind::MissingRequiredArgument, "{line}");
        }
    }

    #[test]
    fn a_restore_may_be_of_a_whole_tree() {
        for (line, tree) in [("yoi restore ada", false), ("yoi restore ada --tree", true)] {
            let Some(Verb::Restore(restore)) = parse(line).unwrap().verb else { panic!("{line}") };
            assert_eq!((restore.target.as_str(), restore.tree), ("ada", tree), "{line}");
        }
    }

    #[test]
    fn an_answer_allows_unless_it_says_deny() {
        let Some(Verb::Approve(yes)) = parse("yoi approve ada q1 --remember").unwrap().verb else { panic!() };
        assert_eq!((yes.id.as_str(), yes.deny, yes.remember, yes.reason), ("q1", false, true, None));
        let Some(Verb::Approve(no)) = parse("yoi approve ada q1 --deny --reason no").unwrap().verb else { panic!() };
        assert_eq!((no.deny, no.remember, no.reason.as_deref()), (true, false, Some("no")));
        assert!(parse("yoi approve ada").is_err());
    }

    #[test]
    fn a_rewind_names_a_record_and_may_name_the_head() {
        let Some(Verb::Rewind(rewind)) = parse("yoi rewind ada 7 --head 9").unwrap().verb else { panic!() };
        assert_eq!((rewind.seq, rewind.head), (7, Some(9)));
        for line in ["yoi rewind ada", "yoi rewind ada x", "yoi rewind ada -1", "yoi rewind ada 7 --head -9"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn a_tool_takes_no_arguments_unless_some_are_given() {
        let Some(Verb::Tool(tool)) = parse("yoi tool ada ListPods").unwrap().verb else { panic!() };
        assert_eq!((tool.tool.as_str(), tool.arguments.as_str()), ("ListPods", "{}"));
    }

    #[test]
    fn an_export_is_markdown_or_jsonl_and_an_import_reads_a_file() {
        let Some(Verb::Export(export)) = parse("yoi export ada").unwrap().verb else { panic!() };
        assert_eq!((export.target.as_str(), export.format), ("ada", None));
        assert!(parse("yoi export ada --format jsonl").is_ok());
        assert_eq!(parse("yoi export ada --format pdf").unwrap_err().kind(), ErrorKind::InvalidValue);
        let Some(Verb::Import(import)) = parse("yoi import ada -").unwrap().verb else { panic!() };
        assert_eq!((import.name.as_str(), import.file), ("ada", PathBuf::from("-")));
        assert!(parse("yoi import ada").is_err());
    }

    #[test]
    fn words_to_find_are_all_that_stands_there() {
        let Some(Verb::Search(search)) = parse("yoi search --pod ada one two").unwrap().verb else { panic!() };
        assert_eq!((search.words, search.pod.as_deref()), (vec!["one".to_owned(), "two".to_owned()], Some("ada")));
        assert!(parse("yoi search").is_err());
    }

    #[test]
    fn an_address_of_a_pod_needs_both_halves() {
        assert!(parse("yoi tui --runtime local --worker 1").is_ok());
        for line in ["yoi tui --runtime local", "yoi tui --worker 1", "yoi tui ada --runtime local --worker 1"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
