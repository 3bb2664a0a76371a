use anyhow::Result;
use protocol::operations;
use protocol::{CommandId, RewindCommand, Seq};

use super::Caller;
use crate::{cli::RewindOptions, output};

/// Removes what came after a record from the model's context.
pub(super) async fn rewind(caller: &Caller, options: RewindOptions) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    let expected_head = match options.head {
        Some(head) => Seq(head),
        None => caller.client.read(&operations::Pod { pod: pod.clone() }).await?.summary.head_seq,
    };
    let command = RewindCommand { to_seq: Seq(options.seq), expected_head };
    let receipt =
        caller.client.carry_out(&CommandId::random(), &operations::Rewind { pod: pod.clone(), body: command }).await?;
    match caller.config.json {
        true => output::json(&receipt),
        false => output::line(&format!("rewound to seq {}, accepted at seq {}", options.seq, receipt.seq)),
    }
}
