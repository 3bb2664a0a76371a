//! The options of every verb, and those of `serve`. What they leave out, [`crate::config`] fills in.

use std::path::PathBuf;

use clap::Args;

/// Options of every verb.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct CommonOptions {
    /// The server to talk to (YOI_SERVER), http://… or unix:PATH; by default the one that uses the data folder
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
    /// A Unix socket to answer on as well (YOI_SOCKET); `--server unix:PATH` talks to it
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// sqlite://PATH or postgres://… (YOI_DATABASE); by default a file in the data folder
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,
    /// Another host name that requests may use; can be given several times
    #[arg(long = "allow-host", value_name = "NAME")]
    pub(crate) allow_hosts: Vec<String>,
    /// The name that this server announces to other servers; by default the host's
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Debug mode: also serve the Pods behind the sockets of the older protocol in this folder, as the runtime
    /// `compat`; the two kinds do not mix, and nothing of the older ones is stored
    #[arg(long, value_name = "DIR")]
    pub(crate) compat_sockets: Option<PathBuf>,
    /// Open the console in a browser
    #[arg(long)]
    pub(crate) open: bool,
}
