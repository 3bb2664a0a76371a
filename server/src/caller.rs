//! What every verb that talks to a server works with: a client and its configuration.

use anyhow::Result;
use client::{Client, TokenSource};
use protocol::operations;
use protocol::operations::Pods;
use protocol::{Listing, PodName, PodRef, PodSummary};

use crate::{
    config::{ClientConfig, Environment},
    data_dir,
    options::CommonOptions,
    token,
};

/// What every verb works with.
pub(crate) struct Caller {
    pub(crate) client: Client,
    pub(crate) config: ClientConfig,
}

impl Caller {
    pub(crate) fn new(common: &CommonOptions, environment: &Environment) -> Result<Self> {
        let config = ClientConfig::load(common, environment)?;
        let (given, data) = (config.token.clone(), config.data.clone());
        // The file is read for each request, because a server's first start creates it.
        let token = TokenSource::reading(move || given.clone().or_else(|| token::read(&data).ok().flatten()));
        let mut client = Client::new(&config.server, token)?.named("cli");
        if let Some(data) = config.found_in.clone() {
            client = client.looking_up(move || data_dir::address(&data));
        }
        Ok(Self { client, config })
    }

    /// The first page of a list of Pods.
    pub(crate) async fn pods_page(&self, filter: Pods) -> Result<Listing<PodSummary>> {
        Ok(self.client.read(&filter).await?)
    }

    pub(crate) async fn resolve(&self, target: &str) -> Result<PodRef> {
        Ok(self.client.read(&operations::Resolve { target: Some(target.to_owned()) }).await?)
    }
}

/// A Pod as the command line names it, with its runtime unless that is the server's own.
pub(crate) fn name_of(name: &PodName, pod: &PodRef) -> String {
    match pod.runtime_id.as_str() {
        "local" => name.to_string(),
        runtime => format!("{name}@{runtime}"),
    }
}
