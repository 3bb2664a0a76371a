use std::io::{IsTerminal, stdout};

use anyhow::{Result, bail};
use client::{Connection, StreamItem};
use protocol::{DiagnosticCode, Listing, PodRef, Record, Seq, ServerFrame};

use super::{
    Caller,
    follow::Follow,
    record_line::record_line,
    streamed::{Piece, Streamed},
};
use crate::{cli::LogOptions, output, signals::until_interrupted};

/// How records are printed.
enum Printer {
    /// One document per line.
    Json,
    /// One line for each complete record, so that readers of the output (`grep`, a file) get no partial ones.
    Lines,
    /// Text as it arrives.
    Streamed(Streamed),
}

/// Prints the newest records of a Pod, and with `--follow` all that come after them.
pub(super) async fn log(caller: &Caller, options: LogOptions) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    if options.follow {
        let mut printer = match (caller.config.json, options.partial || stdout().is_terminal()) {
            (true, _) => Printer::Json,
            (false, true) => Printer::Streamed(Streamed::default()),
            (false, false) => Printer::Lines,
        };
        let ended = until_interrupted(follow(caller, pod, options.limit, &mut printer)).await;
        // What comes next, a prompt or an error, gets a line of its own.
        printer.end()?;
        return ended;
    }
    let listing = newest(caller, &pod, options.before.map(Seq), options.limit).await?;
    match caller.config.json {
        true => output::json(&listing),
        false => Printer::Lines.print(&listing.items),
    }
}

/// The newest `limit` records, or those before a seq, in full, over as many pages as it takes.
async fn newest(caller: &Caller, pod: &PodRef, before: Option<Seq>, limit: u32) -> Result<Listing<Record>> {
    let mut listing = caller.client.whole_transcript(pod, before, limit).await?;
    while let (Some(first), true) = (listing.items.first(), listing.next.is_some()) {
        let missing = limit.saturating_sub(listing.items.len().try_into().unwrap_or(u32::MAX));
        if missing == 0 {
            break;
        }
        let older = caller.client.whole_transcript(pod, Some(first.seq), missing).await?;
        listing.next = older.next;
        listing.items.splice(0..0, older.items);
    }
    Ok(listing)
}

async fn follow(caller: &Caller, pod: PodRef, tail: u32, printer: &mut Printer) -> Result<()> {
    let mut events = caller.client.events();
    events.subscribe_pod(pod.clone(), None, tail);
    let mut follow = Follow::from_now(pod);
    loop {
        match events.next().await {
            StreamItem::Frame(ServerFrame::Snapshot { summary, records, has_more, .. }) => {
                printer.print(&follow.snapshot(&caller.client, &summary, records, has_more).await?)?;
            }
            StreamItem::Frame(ServerFrame::Records { records, .. }) => printer.print(&follow.records(records))?,
            StreamItem::Frame(ServerFrame::Diagnostic { code: DiagnosticCode::PodNotFound, detail, .. }) => {
                bail!("{detail}")
            }
            StreamItem::Frame(ServerFrame::Diagnostic { code: DiagnosticCode::PodGone, detail, .. }) => {
                printer.end()?;
                output::note(&detail);
                return Ok(());
            }
            StreamItem::Connection(Connection::Unauthorized) => bail!("{}", output::UNAUTHORIZED),
            StreamItem::Connection(connection) => {
                if let Some(text) = words(&connection) {
                    printer.note(text, &connection)?;
                }
            }
            StreamItem::Frame(_) => {}
        }
    }
}

impl Printer {
    fn print(&mut self, records: &[Record]) -> Result<()> {
        match self {
            Self::Json => records.iter().try_for_each(output::json),
            Self::Lines => records.iter().filter_map(record_line).try_for_each(|line| output::line(&line)),
            Self::Streamed(streamed) => shown(streamed.take_all(records)),
        }
    }

    /// While the server is away no text can come, so this ends the line; the news that it is back can wait for the end
    /// of a line.
    fn note(&mut self, text: String, connection: &Connection) -> Result<()> {
        match (self, connection) {
            (Self::Streamed(streamed), Connection::Reconnecting { .. }) => {
                shown(streamed.end())?;
                output::note(&text);
            }
            (Self::Streamed(streamed), _) => shown(streamed.note(text))?,
            (Self::Json | Self::Lines, _) => output::note(&text),
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        match self {
            Self::Streamed(streamed) => shown(streamed.end()),
            Self::Json | Self::Lines => Ok(()),
        }
    }
}

fn shown(pieces: Vec<Piece>) -> Result<()> {
    pieces.iter().try_for_each(|piece| match piece {
        Piece::Text(text) => output::bytes(text.as_bytes()),
        Piece::Note(note) => {
            output::note(note);
            Ok(())
        }
    })
}

/// What a follower is told about its connection: once when it is lost, and when it is back.
pub(super) fn words(connection: &Connection) -> Option<String> {
    match connection {
        Connection::Reconnecting { attempt: 1, cause } => Some(format!("the server is away ({cause}); reconnecting")),
        Connection::CaughtUp { records } => Some(format!("the server is back; {records} records were missed")),
        Connection::Reloaded => {
            Some("the server could not resume where it was; missed records were fetched".to_owned())
        }
        Connection::Reconnecting { .. } | Connection::Connected | Connection::Unauthorized => None,
    }
}
