use anyhow::{Result, bail};
use client::{Connection, StreamItem};
use protocol::{DiagnosticCode, PodRef, Record, Seq, ServerFrame};

use super::{Caller, follow::Follow, record_line::record_line};
use crate::{cli::LogOptions, output, signals::until_interrupted};

/// Prints the newest records of a Pod, and with `--follow` all that come after them.
pub(super) async fn log(caller: &Caller, options: LogOptions) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    if options.follow {
        return until_interrupted(follow(caller, pod, options.limit)).await;
    }
    let listing = caller.client.transcript(&pod, options.before.map(Seq), options.limit).await?;
    match caller.config.json {
        true => output::json(&listing),
        false => listing.items.iter().try_for_each(print_line),
    }
}

async fn follow(caller: &Caller, pod: PodRef, tail: u32) -> Result<()> {
    let mut events = caller.client.events();
    events.subscribe_pod(pod.clone(), None, tail);
    let mut follow = Follow::from_now(pod);
    loop {
        match events.next().await {
            StreamItem::Frame(ServerFrame::Snapshot { summary, records, has_more, .. }) => {
                print(caller, &follow.snapshot(&caller.client, &summary, records, has_more).await?)?;
            }
            StreamItem::Frame(ServerFrame::Records { records, .. }) => print(caller, &follow.records(records))?,
            StreamItem::Frame(ServerFrame::Diagnostic { code: DiagnosticCode::PodNotFound, detail, .. }) => {
                bail!("{detail}")
            }
            StreamItem::Frame(ServerFrame::Diagnostic { code: DiagnosticCode::PodGone, detail, .. }) => {
                output::note(&detail);
                return Ok(());
            }
            StreamItem::Connection(Connection::Unauthorized) => bail!("{}", output::UNAUTHORIZED),
            StreamItem::Connection(connection) => note(&connection),
            StreamItem::Frame(_) => {}
        }
    }
}

/// What a follower is told of its connection: that it is lost, once, and that it is back.
pub(super) fn note(connection: &Connection) {
    match connection {
        Connection::Reconnecting { attempt: 1, cause } => {
            output::note(&format!("the server is away ({cause}); reconnecting"));
        }
        Connection::CaughtUp { records } => output::note(&format!("the server is back; {records} records were missed")),
        Connection::Reloaded => output::note("the server could not go on where it was; what was missed was fetched"),
        Connection::Reconnecting { .. } | Connection::Connected | Connection::Unauthorized => {}
    }
}

fn print(caller: &Caller, records: &[Record]) -> Result<()> {
    match caller.config.json {
        true => records.iter().try_for_each(output::json),
        false => records.iter().try_for_each(print_line),
    }
}

fn print_line(record: &Record) -> Result<()> {
    record_line(record).map_or(Ok(()), |text| output::line(&text))
}
