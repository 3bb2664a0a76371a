//! Options of the verbs for the server, or for this program.

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
    /// Test a provider, or all of them
    Test {
        /// Only this one
        name: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct McpOptions {
    #[command(subcommand)]
    pub(crate) verb: Option<McpVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpVerb {
    /// List the MCP servers that Pods use, and their state
    Ls,
    /// End the connections and processes of an MCP server; Pods get new ones
    Restart {
        /// Its name; `yoi mcp ls` lists them
        name: String,
    },
    /// Print the address where you log in to an MCP server
    Login {
        /// Its name; `yoi mcp ls` lists them
        name: String,
    },
    /// List the prompts of a Pod's MCP servers
    Prompts {
        /// The Pod
        pod: String,
    },
    /// Print the text that a prompt makes, to send as a message
    Prompt {
        /// The Pod
        pod: String,
        /// The prompt, SERVER__prompt; `yoi mcp prompts POD` lists them
        name: String,
        /// Its arguments, in their order or as name=value
        arguments: Vec<String>,
    },
    /// List the resources of a Pod's MCP servers
    Resources {
        /// The Pod
        pod: String,
        /// A few letters of a name or an address
        letters: Option<String>,
    },
    /// Print a resource
    Read {
        /// The Pod
        pod: String,
        /// The server's name
        server: String,
        /// The resource's address
        uri: String,
    },
    /// Forget the login to an MCP server
    Logout {
        /// Its name; `yoi mcp ls` lists them
        name: String,
    },
    /// Print what an MCP server wrote on its standard error
    Log {
        /// Its name; `yoi mcp ls` lists them
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyVerb {
    /// Read a key from a prompt or standard input, test it, and store it in the data folder
    Set(SetKeyOptions),
    /// Delete a key, and the provider with it
    Forget {
        /// Its name; `yoi providers` lists them
        provider: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct SetKeyOptions {
    /// openai, anthropic, gemini, openrouter, or a name of your own
    pub(crate) provider: String,
    /// openai, openai-compatible, anthropic or gemini; default: unchanged, or according to its name
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Address of its server, for openai-compatible
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RuntimesOptions {
    #[command(subcommand)]
    pub(crate) verb: Option<RuntimesVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RuntimesVerb {
    /// Add another yoi server; its Pods then appear here
    Add(AddRuntimeOptions),
    /// Remove another yoi server; its Pods stay where they are
    Remove {
        /// Its name here
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AddRuntimeOptions {
    /// Its name here: a-z 0-9 -, at most 32 characters
    pub(crate) name: String,
    /// Its address, http://… or https://…
    pub(crate) url: String,
    /// File with the output of `yoi token` there; - reads standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct TokenOptions {
    /// Write it as a header to a file that only you can read, and print the file's name: `curl -H @"$(yoi token --header)" …`
    #[arg(long)]
    pub(crate) header: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OpenOptions {
    /// Only print an address that logs one browser in, once, within a minute
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SignOutOptions {
    /// Login id; `yoi sessions` lists them
    #[arg(value_name = "ID", required_unless_present = "all")]
    pub(crate) id: Option<String>,
    /// Every browser
    #[arg(long, conflicts_with = "id")]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorOptions {
    /// Do not test the providers
    #[arg(long)]
    pub(crate) no_test: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServiceVerb {
    /// Write a unit with these options and start it
    Install(InstallOptions),
    /// Stop it and remove the unit
    Uninstall(UninstallOptions),
    /// Print whether there is a unit and whether it runs
    Status,
}

#[derive(Debug, Args)]
pub(crate) struct InstallOptions {
    #[command(flatten)]
    pub(crate) serve: ServeOptions,
    /// Only print the unit
    #[arg(long, visible_alias = "print", help_heading = None)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallOptions {
    /// Only print what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ManOptions {
    /// Write the pages of all verbs to this folder; default: print the first page
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}
