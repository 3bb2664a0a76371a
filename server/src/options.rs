//! The options of every verb, and those of `serve`. [`crate::config`] supplies what they leave out.

use std::path::PathBuf;

use clap::Args;

/// Options of every verb.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct CommonOptions {
    /// Server to talk to (YOI_SERVER), http://… or unix:PATH; default: the one using the data folder
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Folder of the database and the token (YOI_DATA); default: yoi in the XDG data directory
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Configuration file (YOI_CONFIG); default: yoi/config.toml in the XDG config directory, if it exists
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON: one document, or one line per event
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Options of `serve`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Options of serve")]
pub(crate) struct ServeOptions {
    /// Address and port to listen on (YOI_LISTEN); default: 127.0.0.1:7474, port 0 picks a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<String>,
    /// Also listen on this Unix socket (YOI_SOCKET); `--server unix:PATH` talks to it
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// sqlite://PATH or postgres://… (YOI_DATABASE); default: a file in the data folder
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,
    /// Another host name that requests may use; repeatable
    #[arg(long = "allow-host", value_name = "NAME")]
    pub(crate) allow_hosts: Vec<String>,
    /// Name that this server announces to other servers; default: the host name
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Debug mode: also serve the Pods behind the sockets of the older protocol in this folder, as the runtime
    /// `compat`; the two kinds do not mix, and nothing of the older ones is stored
    #[arg(long, value_name = "DIR")]
    pub(crate) compat_sockets: Option<PathBuf>,
    /// Let whoever is logged in open a terminal in the page: a shell of this account, in a Pod's folder, in no sandbox
    #[arg(long)]
    pub(crate) terminal: bool,
    /// Open the console in a browser
    #[arg(long)]
    pub(crate) open: bool,
}
