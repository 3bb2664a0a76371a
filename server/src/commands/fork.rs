use anyhow::Result;
use protocol::{CommandId, ForkCommand, PodName, Seq, operations};

use super::{Caller, name_of};
use crate::{cli::ForkOptions, output};

/// Creates a Pod with another one's history and settings.
pub(super) async fn fork(caller: &Caller, options: ForkOptions) -> Result<()> {
    let body = ForkCommand { name: PodName::parse(&options.name)?, at_seq: options.at.map(Seq) };
    let pod = caller.resolve(&options.target).await?;
    let summary = caller.client.carry_out(&CommandId::random(), &operations::Fork { pod, body }).await?;
    match caller.config.json {
        true => output::json(&summary),
        false => {
            let name = name_of(&summary.name, &summary.pod);
            output::line(&format!("{name} forked from {}; it is idle in {}", options.target, summary.cwd))
        }
    }
}
