use anyhow::Result;
use protocol::{CommandId, FileStatus, RewindCommand, RewindPreview, Seq, operations};

use super::Caller;
use crate::{cli::RewindOptions, output};

/// Removes what came after a record from the model's context, and undoes it on the disk if that is wanted.
pub(super) async fn rewind(caller: &Caller, options: RewindOptions) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    if options.preview {
        let preview = caller.client.read(&operations::PreviewRewind { pod, to_seq: Seq(options.seq) }).await?;
        return if caller.config.json { output::json(&preview) } else { tell(&preview) };
    }
    let expected_head = match options.head {
        Some(head) => Seq(head),
        None => caller.client.read(&operations::Pod { pod: pod.clone() }).await?.summary.head_seq,
    };
    let RewindOptions { seq, files, overwrite, .. } = options;
    let command = RewindCommand { to_seq: Seq(seq), expected_head, files, overwrite };
    let receipt = caller.client.carry_out(&CommandId::random(), &operations::Rewind { pod, body: command }).await?;
    match caller.config.json {
        true => output::json(&receipt),
        false => output::line(&format!("rewound to seq {seq}, accepted at seq {}", receipt.seq)),
    }
}

fn tell(preview: &RewindPreview) -> Result<()> {
    for message in &preview.messages {
        output::line(&format!("{:>6}  {}  {}", message.seq, message.kind, message.text))?;
    }
    if preview.more_messages > 0 {
        output::note(&format!("{} more messages would leave the context", preview.more_messages));
    }
    for file in &preview.files {
        let verb = match file.status {
            FileStatus::Added => "brought back",
            FileStatus::Modified => "changed back",
            FileStatus::Deleted => "removed",
        };
        let others = if file.others { ", though somebody else has changed it since" } else { "" };
        output::line(&format!("with --files: {} would be {verb}{others}", file.path))?;
    }
    preview.notes.iter().for_each(|note| output::note(note));
    Ok(())
}
