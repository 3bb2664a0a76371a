use protocol::operations;
use std::io::{IsTerminal, Write, stderr, stdin};

use ::commands::Sign;
use anyhow::{Context, Result, bail};
use protocol::{CommandId, PodSummary};

use super::{Caller, name_of};
use crate::{cli::RmOptions, output};

/// Deletes a Pod. The server requires its name as a confirmation; the person confirms by `--yes` or at a terminal.
pub(super) async fn rm(caller: &Caller, options: RmOptions) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    let summary = caller.client.read(&operations::Pod { pod: pod.clone() }).await?.summary;
    let name = &summary.name;
    if !options.yes {
        if !stdin().is_terminal() || !stderr().is_terminal() {
            bail!("this deletes {name} and its records and cannot be undone; confirm with --yes");
        }
        if !confirmed(summary.clone()).await? {
            bail!("{name} was not deleted");
        }
    }
    caller
        .client
        .carry_out(
            &CommandId::random(),
            &operations::Delete { pod: pod.clone(), confirm: Some(name.as_str().to_string()) },
        )
        .await?;
    match caller.config.json {
        true => output::json(&serde_json::json!({ "removed": pod })),
        false => output::line(&format!("{name} deleted")),
    }
}

/// Asks for confirmation on standard error, wherever standard output goes. Only yes counts as yes.
async fn confirmed(pod: PodSummary) -> Result<bool> {
    let ask = move || {
        write!(stderr(), "{}", question(&pod)).and_then(|()| stderr().flush())?;
        let mut line = String::new();
        stdin().read_line(&mut line)?;
        std::io::Result::Ok(matches!(line.trim(), "y" | "Y" | "yes"))
    };
    tokio::task::spawn_blocking(ask).await.context("the question was not asked")?.context("the terminal cannot be read")
}

/// What will be deleted, and what stays.
fn question(pod: &PodSummary) -> String {
    let children = match pod.relations.children {
        0 => String::new(),
        1 => ", and so does its child".to_owned(),
        more => format!(", and so do its {more} children"),
    };
    output::printable(&format!(
        "Delete {} ({}, in {}) with its whole transcript? This cannot be undone. Files that it wrote stay{children}. [y/N] ",
        name_of(&pod.name, &pod.pod),
        Sign::of(pod).word(),
        pod.cwd,
    ))
}
