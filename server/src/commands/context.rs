//! What a Pod's model can see: other Pods, and its own conversation.

use anyhow::Result;
use protocol::{CompactionPreview, ExchangeMessage, Listing, Message, PodRef, VisiblePod};
use protocol::{
    operation::{Limit, Loose, Page},
    operations,
};

use super::{Caller, name_of, show, word};
use crate::{
    cli::{ExchangeOptions, FilesOptions},
    output,
};

/// Prints the Pods that a Pod's model can see.
pub(super) async fn visible(caller: &Caller, target: &str) -> Result<()> {
    let pod = caller.resolve(target).await?;
    let listing = caller.client.read(&operations::Visible { pod: pod.clone(), page: Page::default() }).await?;
    match caller.config.json {
        true => output::json(&listing),
        false => output::headed(["NAME", "STATE", "BECAUSE", "SCOPE"], listing.items.iter().map(row)),
    }
}

fn row(pod: &VisiblePod) -> [String; 4] {
    let because: Vec<_> = pod.visibility.iter().map(word).collect();
    let scope: Vec<_> = pod.scope.iter().map(show::scope).collect();
    [name_of(&pod.name, &pod.pod), word(&pod.state), because.join(", "), scope.join(", ")]
}

/// Prints files that a message to a Pod may mention, best match first.
pub(super) async fn files(caller: &Caller, options: FilesOptions) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    let listing =
        caller.client.read(&operations::Files { pod: pod.clone(), q: Loose(Some(options.begun.to_owned())) }).await?;
    match caller.config.json {
        true => output::json(&listing),
        false => listing.items.iter().try_for_each(|path| output::line(path)),
    }
}

/// Prints what a Pod's model would be sent now.
pub(super) async fn history(caller: &Caller, target: &str) -> Result<()> {
    let pod = caller.resolve(target).await?;
    let history = caller.client.read(&operations::HistoryOf { pod: pod.clone() }).await?;
    match caller.config.json {
        true => output::json(&history),
        false => history.messages.iter().try_for_each(|message| output::line(&output::printable(&said(message)))),
    }
}

/// The role, followed by the content.
fn said(message: &Message) -> String {
    let mut text = format!("── {}", word(&message.role));
    let reasoning = message.reasoning.iter().map(|reasoning| format!("(thought) {reasoning}"));
    let content = (!message.content.is_empty()).then(|| message.content.clone());
    let calls = message.tool_calls.iter().map(|call| format!("(calls) {} {}", call.name, call.arguments));
    for part in reasoning.chain(content).chain(calls) {
        text.push('\n');
        text.push_str(part.trim_end());
    }
    text
}

/// Prints what compacting would do.
pub(super) async fn compaction(caller: &Caller, target: &str) -> Result<()> {
    let pod = caller.resolve(target).await?;
    let preview = caller.client.read(&operations::PreviewCompaction { pod: pod.clone() }).await?;
    match (caller.config.json, preview) {
        (true, preview) => output::json(&preview),
        (false, None) => output::line("nothing to compact"),
        (false, Some(preview)) => output::line(&would(&preview)),
    }
}

fn would(preview: &CompactionPreview) -> String {
    let CompactionPreview { dropped, kept, kept_from_seq, tokens_now, tokens_kept } = preview;
    format!(
        "a summary would replace {dropped} messages; {kept} stay, from record {kept_from_seq} on (about {tokens_kept} of \
         {tokens_now} tokens)"
    )
}

/// Prints the messages between two Pods, oldest first.
pub(super) async fn exchange(caller: &Caller, options: ExchangeOptions) -> Result<()> {
    let pod = caller.resolve(&options.source).await?;
    let peer = caller.resolve(&options.target).await?;
    let listing = caller
        .client
        .read(&operations::Exchange {
            pod: pod.clone(),
            peer: peer.clone(),
            before: Loose(options.before.clone()),
            limit: Limit(options.limit),
        })
        .await?;
    if caller.config.json {
        return output::json(&listing);
    }
    print_exchange(&listing, &pod, &options)
}

fn print_exchange(listing: &Listing<ExchangeMessage>, pod: &PodRef, options: &ExchangeOptions) -> Result<()> {
    if listing.items.is_empty() {
        output::note(&format!("no messages between {} and {}", options.source, options.target));
    }
    for message in listing.items.iter().rev() {
        let from = if message.from == *pod { &options.source } else { &options.target };
        let time = message.at.strftime("%Y-%m-%d %H:%M:%S");
        let text = format!("{time}  {from}: {} ({}, {})", message.text, word(&message.state), message.message_id);
        output::line(&output::printable(&text).replace('\n', "\n          "))?;
    }
    if let Some(next) = &listing.next {
        output::note(&format!("more: --before {next}"));
    }
    Ok(())
}
