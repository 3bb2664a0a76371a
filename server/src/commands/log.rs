use anyhow::{Result, bail};
use client::{Connection, StreamItem};
use protocol::{DiagnosticCode, PodRef, Record, Seq, ServerFrame};

use super::{Caller, record_line::record_line};
use crate::{cli::LogOptions, output};

/// Prints the newest records of a Pod, and with `--follow` all that come after them.
pub(super) async fn log(caller: &Caller, options: LogOptions) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    if options.follow {
        return follow(caller, pod, options.limit).await;
    }
    let listing = caller.client.transcript(&pod, None, options.limit).await?;
    match caller.config.json {
        true => output::json(&listing),
        false => listing.items.iter().try_for_each(print_line),
    }
}

async fn follow(caller: &Caller, pod: PodRef, tail: u32) -> Result<()> {
    let mut events = caller.client.events();
    events.subscribe_pod(pod, None, tail);
    // A snapshot after a gap begins with what was printed before it.
    let mut printed = Seq(0);
    loop {
        match events.next().await {
            StreamItem::Frame(ServerFrame::Snapshot { records, .. } | ServerFrame::Records { records, .. }) => {
                for record in records.iter().filter(|record| record.seq > printed) {
                    match caller.config.json {
                        true => output::json(record)?,
                        false => print_line(record)?,
                    }
                }
                printed = records.last().map_or(printed, |record| printed.max(record.seq));
            }
            StreamItem::Frame(ServerFrame::Diagnostic { code: DiagnosticCode::PodNotFound, detail, .. }) => {
                bail!("{detail}")
            }
            StreamItem::Frame(ServerFrame::Diagnostic { code: DiagnosticCode::PodGone, detail, .. }) => {
                output::note(&detail);
                return Ok(());
            }
            StreamItem::Connection(Connection::Reconnecting { cause, .. }) => {
                output::note(&format!("reconnecting: {cause}"));
            }
            StreamItem::Connection(Connection::Unauthorized) => {
                bail!("the server refuses the token; `yoi token` prints the one it was started with")
            }
            _ => {}
        }
    }
}

fn print_line(record: &Record) -> Result<()> {
    record_line(record).map_or(Ok(()), |text| output::line(&text))
}
