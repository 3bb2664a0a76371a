//! The verbs of the command line except `serve`: each is a call or two of [`client`].

mod agents;
mod approvals;
mod audit;
mod changes;
mod completions;
mod context;
mod control;
mod doctor;
mod events;
mod export;
mod follow;
mod fork;
mod import;
mod key;
mod log;
mod lone;
mod ls;
mod man;
mod mcp;
mod messages;
mod models;
mod new;
mod open;
mod patch;
mod peers;
mod preview;
mod prompt;
mod providers;
mod ps;
mod queue;
mod record_line;
mod requests;
mod restore;
mod rewind;
mod rm;
mod rules;
mod runtimes;
mod search;
mod send;
mod service;
mod sessions;
mod settings;
mod show;
mod streamed;
mod token;
mod tool;
mod tui;
mod usage;
mod worktree;

use anyhow::{Context, Result};
use jiff::Timestamp;
use protocol::{HeldDecision, Listing, PodSummary, RequestDecision, RuntimeId, operation::Loose, operations::Pods};

pub(crate) use self::{
    completions::{VARIABLE, completions},
    doctor::doctor,
    man::man,
    service::service,
    token::token,
};
use crate::{
    caller::{Caller, name_of},
    cli::Verb,
    config::Environment,
    options::CommonOptions,
};

/// Runs a verb that talks to a server.
pub(crate) async fn run(verb: Verb, common: CommonOptions, environment: Environment) -> Result<()> {
    let caller = Caller::new(&common, &environment)?;
    if let Some((control, target)) = verb.as_control() {
        return control::control(&caller, control, target).await;
    }
    match verb {
        Verb::Ls(options) => ls::ls(&caller, options).await,
        Verb::Show(option) => show::show(&caller, &option.target).await,
        Verb::Resolve(option) => show::resolve(&caller, &option.target).await,
        Verb::New(options) => new::new(&caller, options).await,
        Verb::Send(options) => send::send(&caller, options).await,
        Verb::Log(options) => log::log(&caller, options).await,
        Verb::Events(options) => events::events(&caller, options).await,
        Verb::Restore(options) => restore::restore(&caller, options).await,
        Verb::Rewind(options) => rewind::rewind(&caller, options).await,
        Verb::Changes(options) => changes::changes(&caller, options).await,
        Verb::Revert(options) => changes::revert(&caller, options).await,
        Verb::Review(options) => changes::review(&caller, options).await,
        Verb::Fork(options) => fork::fork(&caller, options).await,
        Verb::Worktree(options) => worktree::worktree(&caller, options).await,
        Verb::Commit(options) => worktree::commit(&caller, options).await,
        Verb::Compact(options) => context::compaction(&caller, &options.target).await,
        Verb::Queue(option) => queue::queue(&caller, &option.target).await,
        Verb::Unqueue(options) => queue::unqueue(&caller, options).await,
        Verb::Prompt(options) => prompt::prompt(&caller, options).await,
        Verb::Ps(options) => ps::ps(&caller, options).await,
        Verb::Preview(options) => preview::preview(&caller, options).await,
        Verb::Rename(options) => patch::rename(&caller, options).await,
        Verb::Policy(options) => patch::policy(&caller, options).await,
        Verb::Network(options) => patch::network(&caller, options).await,
        Verb::Model(options) => patch::model(&caller, options).await,
        Verb::Budget(options) => patch::budget(&caller, options).await,
        Verb::Set(options) => patch::set(&caller, options).await,
        Verb::Models => models::models(&caller).await,
        Verb::Agents => agents::agents(&caller).await,
        Verb::Mode(options) => patch::mode(&caller, options).await,
        Verb::Wake(options) => patch::wake(&caller, options).await,
        Verb::Permissions(options) => patch::permissions(&caller, options).await,
        Verb::Rules(options) => rules::rules(&caller, options).await,
        Verb::Visible(option) => context::visible(&caller, &option.target).await,
        Verb::Files(options) => context::files(&caller, options).await,
        Verb::History(option) => context::history(&caller, &option.target).await,
        Verb::Exchange(options) => context::exchange(&caller, options).await,
        Verb::Tools => settings::tools(&caller).await,
        Verb::Walls => settings::walls(&caller).await,
        Verb::Tool(options) => tool::tool(&caller, options).await,
        Verb::Search(options) => search::search(&caller, options).await,
        Verb::Export(options) => export::export(&caller, options).await,
        Verb::Import(options) => import::import(&caller, options).await,
        Verb::Usage => usage::usage(&caller).await,
        Verb::Audit(options) => audit::audit(&caller, options).await,
        Verb::Rm(options) => rm::rm(&caller, options).await,
        Verb::Runtimes(options) => runtimes::runtimes(&caller, options).await,
        Verb::Providers(options) => providers::providers(&caller, options).await,
        Verb::Key(verb) => key::key(&caller, verb).await,
        Verb::Profiles => settings::profiles(&caller).await,
        Verb::Open(options) => open::open(&caller, options).await,
        Verb::Sessions => sessions::sessions(&caller).await,
        Verb::SignOut(options) => sessions::sign_out(&caller, options).await,
        Verb::Mcp(options) => mcp::mcp(caller, options).await,
        Verb::Acp(options) => Ok(stdio::acp(caller.client, options.pod).await?),
        Verb::Tui(options) => tui::tui(caller, options).await,
        other => between(&caller, other).await,
    }
}

/// Runs a verb about peers, their messages, or what is asked.
async fn between(caller: &Caller, verb: Verb) -> Result<()> {
    match verb {
        Verb::Peer(options) => peers::introduce(caller, options).await,
        Verb::Unpeer(options) => peers::unlink(caller, options).await,
        Verb::Peers(option) => peers::peers(caller, &option.target).await,
        Verb::Requests(options) => requests::requests(caller, options).await,
        Verb::Accept(options) => requests::decide(caller, options, RequestDecision::Accept).await,
        Verb::Decline(options) => requests::decide(caller, options, RequestDecision::Decline).await,
        Verb::Message(options) => messages::send(caller, options).await,
        Verb::Release(options) => messages::decide(caller, options, HeldDecision::Release).await,
        Verb::Drop(options) => messages::decide(caller, options, HeldDecision::Drop).await,
        Verb::Approvals(options) => approvals::approvals(caller, options).await,
        Verb::Approve(options) => approvals::approve(caller, options).await,
        Verb::Deny(options) => approvals::deny(caller, options).await,
        other => unreachable!("{other:?} needs no server and is run by main"),
    }
}

/// All pages of a list of Pods as one.
async fn pods_of(caller: &Caller, mut filter: Pods) -> Result<Listing<PodSummary>> {
    let mut listing = caller.client.read(&filter).await?;
    while let Some(next) = listing.next.take() {
        filter.after = Loose(Some(next));
        let page = caller.client.read(&filter).await?;
        listing.items.extend(page.items);
        listing.next = page.next;
    }
    Ok(listing)
}

/// The text of a message; a single dash stands for standard input.
fn words(text: &[String]) -> Result<String> {
    match text {
        [dash] if dash == "-" => std::io::read_to_string(std::io::stdin()).context("standard input is not text"),
        words => Ok(words.join(" ")),
    }
}

/// How long ago something was.
fn ago(then: Timestamp, now: Timestamp) -> String {
    match now.as_second() - then.as_second() {
        seconds @ ..60 => format!("{} s ago", seconds.max(0)),
        seconds @ 60..3_600 => format!("{} min ago", seconds / 60),
        seconds @ 3_600..172_800 => format!("{} h ago", seconds / 3_600),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}

/// Reports the servers whose part is missing from a merged answer.
pub(crate) fn note_absent(runtimes: &[RuntimeId]) {
    for runtime in runtimes {
        crate::output::note(&format!("{runtime} does not answer; its part is missing here"));
    }
}

/// A word of the protocol, with spaces.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word.replace('_', " "),
        _ => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_said_as_how_long_ago_it_was() {
        let ago = |seconds| ago(Timestamp::UNIX_EPOCH, Timestamp::from_second(seconds).unwrap());
        for (seconds, expected) in
            [(-5, "0 s ago"), (59, "59 s ago"), (60, "1 min ago"), (7_300, "2 h ago"), (200_000, "2 days ago")]
        {
            assert_eq!(ago(seconds), expected);
        }
    }
}
