//! The verbs of the command line but `serve`: each is a call or two of [`client`].

mod approvals;
mod completions;
mod control;
mod doctor;
mod events;
mod log;
mod ls;
mod new;
mod record_line;
mod restore;
mod rewind;
mod rm;
mod send;
mod token;
mod tool;
mod tui;

use anyhow::Result;
use client::{Client, PodsFilter, TokenSource};
use protocol::{Listing, PodName, PodRef, PodSummary};

pub(crate) use self::{completions::completions, token::token};
use crate::{
    cli::{CommonOptions, Verb},
    config::{ClientConfig, Environment},
};

/// What every verb works with.
struct Caller {
    client: Client,
    config: ClientConfig,
}

/// Runs a verb that talks to a server.
pub(crate) async fn run(verb: Verb, common: CommonOptions, environment: Environment) -> Result<()> {
    let caller = Caller::new(&common, &environment)?;
    if let Some((control, target)) = verb.as_control() {
        return control::control(&caller, control, target).await;
    }
    match verb {
        Verb::Ls => ls::ls(&caller).await,
        Verb::New(options) => new::new(&caller, options).await,
        Verb::Send(options) => send::send(&caller, options).await,
        Verb::Log(options) => log::log(&caller, options).await,
        Verb::Events(options) => events::events(&caller, options).await,
        Verb::Restore(options) => restore::restore(&caller, options).await,
        Verb::Rewind(options) => rewind::rewind(&caller, options).await,
        Verb::Approvals(options) => approvals::approvals(&caller, options).await,
        Verb::Approve(options) => approvals::approve(&caller, options).await,
        Verb::Tool(options) => tool::tool(&caller, options).await,
        Verb::Rm(options) => rm::rm(&caller, options).await,
        Verb::Doctor => doctor::doctor(&caller).await,
        Verb::Tui(options) => tui::tui(caller, options).await,
        other => unreachable!("{other:?} needs no server and is run by main"),
    }
}

impl Caller {
    fn new(common: &CommonOptions, environment: &Environment) -> Result<Self> {
        let config = ClientConfig::load(common, environment)?;
        let (given, data) = (config.token.clone(), config.data.clone());
        // The file is read anew for each request: a server's first start makes it.
        let token = TokenSource::reading(move || given.clone().or_else(|| crate::token::read(&data).ok().flatten()));
        let client = Client::new(&config.server, token)?.named("cli");
        Ok(Self { client, config })
    }

    async fn resolve(&self, target: &str) -> Result<PodRef> {
        Ok(self.client.resolve(target).await?)
    }
}

/// All pages of a list of Pods as one.
async fn pods_of(caller: &Caller, mut filter: PodsFilter) -> Result<Listing<PodSummary>> {
    let mut listing = caller.client.pods(&filter).await?;
    while let Some(next) = listing.next.take() {
        filter.after = Some(next);
        let page = caller.client.pods(&filter).await?;
        listing.items.extend(page.items);
        listing.next = page.next;
    }
    Ok(listing)
}

/// A Pod as the command line takes it: its name, and its runtime unless that is the server's own.
fn name_of(name: &PodName, pod: &PodRef) -> String {
    match pod.runtime_id.as_str() {
        "local" => name.to_string(),
        runtime => format!("{name}@{runtime}"),
    }
}
