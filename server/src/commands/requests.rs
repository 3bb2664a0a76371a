use anyhow::Result;
use jiff::Timestamp;
use protocol::{CommandId, Listing, OpenRequest, RequestCommand, RequestDecision};
use protocol::{
    operation::{Filled, Page},
    operations,
};

use super::{Caller, ago, name_of};
use crate::{
    cli::{RequestOptions, RequestsOptions},
    output,
};

/// Prints the open peer requests to one Pod, or all of them.
pub(super) async fn requests(caller: &Caller, options: RequestsOptions) -> Result<()> {
    let mut items =
        caller.client.read(&operations::OpenRequests { runtime: Filled(None), page: Page::default() }).await?.items;
    if let Some(target) = &options.target {
        let pod = caller.resolve(target).await?;
        items.retain(|request| request.to == pod);
    }
    if caller.config.json {
        return output::json(&Listing { items, next: None });
    }
    if items.is_empty() {
        output::note("no pending peer requests");
        return Ok(());
    }
    output::headed(["TO", "ID", "FROM", "ASKED", "NOTE"], items.iter().map(row))
}

fn row(request: &OpenRequest) -> [String; 5] {
    [
        name_of(&request.to_name, &request.to),
        request.request_id.clone(),
        name_of(&request.from_name, &request.from),
        ago(request.at, Timestamp::now()),
        request.note.clone().unwrap_or_default(),
    ]
}

/// Accepts or declines a peer request for the Pod that was asked.
pub(super) async fn decide(caller: &Caller, options: RequestOptions, decision: RequestDecision) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    let command = RequestCommand { decision };
    let answer = caller
        .client
        .carry_out(
            &CommandId::random(),
            &operations::DecideRequest { pod: pod.clone(), request_id: options.id.to_owned(), body: command },
        )
        .await?;
    match (caller.config.json, decision) {
        (true, _) => output::json(&answer),
        (false, RequestDecision::Accept) => output::line("accepted; they are peers"),
        (false, RequestDecision::Decline) => output::line("declined"),
    }
}
