use anyhow::Result;
use protocol::operations;
use protocol::{CommandId, HeldCommand, HeldDecision, MessageAnswer, MessageCommand, ReceiptState};

use super::{Caller, words};
use crate::{
    cli::{HeldOptions, MessageOptions},
    output,
};

/// Sends a message from one Pod to a peer. When this returns, the message is durable, either at its receiver or on its
/// way.
pub(super) async fn send(caller: &Caller, options: MessageOptions) -> Result<()> {
    let text = words(&options.text)?;
    let pod = caller.resolve(&options.source).await?;
    let command = MessageCommand { to: options.target.clone(), text };
    let answer = caller
        .client
        .carry_out(&CommandId::random(), &operations::SendMessage { pod: pod.clone(), body: command.clone() })
        .await?;
    match caller.config.json {
        true => output::json(&answer),
        false => output::line(&sent(&options.source, &options.target, &answer)),
    }
}

fn sent(source: &str, target: &str, answer: &MessageAnswer) -> String {
    let id = &answer.message_id;
    match answer.state {
        ReceiptState::Held => format!("held for {target} as {id}; `yoi release {source} {id}` delivers it"),
        ReceiptState::Sent => {
            format!("sent to {target} as {id}; not yet confirmed by the other server, see `yoi log {source}`")
        }
        _ => format!("stored at {target} as {id}"),
    }
}

/// Delivers or refuses a held message.
pub(super) async fn decide(caller: &Caller, options: HeldOptions, decision: HeldDecision) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    let command = HeldCommand { decision };
    let answer = caller
        .client
        .carry_out(
            &CommandId::random(),
            &operations::DecideHeld { pod: pod.clone(), message_id: options.id.to_owned(), body: command },
        )
        .await?;
    match (caller.config.json, decision) {
        (true, _) => output::json(&answer),
        (false, HeldDecision::Release) if answer.state == ReceiptState::Held => {
            output::line(&format!("{} will be released once the server holding it answers", answer.message_id))
        }
        (false, HeldDecision::Release) => output::line(&format!("{} is delivered", answer.message_id)),
        (false, HeldDecision::Drop) => output::line(&format!("{} is dropped", answer.message_id)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_said_with_the_way_to_release_it() {
        let answer = |state| MessageAnswer { message_id: "m-1".to_owned(), state };
        assert_eq!(sent("ada", "bob", &answer(ReceiptState::Stored)), "stored at bob as m-1");
        let sent_far = sent("ada", "bob@box", &answer(ReceiptState::Sent));
        assert!(sent_far.starts_with("sent to bob@box as m-1; not yet confirmed by the other server"), "{sent_far}");
        let held = "held for bob as m-1; `yoi release ada m-1` delivers it";
        assert_eq!(sent("ada", "bob", &answer(ReceiptState::Held)), held);
    }
}
