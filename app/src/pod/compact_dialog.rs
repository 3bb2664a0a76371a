use leptos::prelude::*;
use protocol::{CompactionPreview, ControlVerb, PodSummary};
use transcript::words::tokens_words;

use crate::{
    components::{deed::Deed, dialog::FormDialog},
    console::fresh_command,
    format::{counted, sentence_case},
    live,
    redrawn::redrawn,
    server_fns::{compaction_preview, control_pod},
};

/// Shows what a summary would replace, before anything is sent.
#[component]
pub(crate) fn CompactDialog(pod: PodSummary) -> impl IntoView {
    let deed = Deed::default();
    let target = pod.pod.clone();
    let preview = LocalResource::new(move || compaction_preview(target.clone()));
    let is_over = Signal::derive(move || !matches!(preview.get(), Some(Ok(Some(_)))));
    let said = move || match preview.get() {
        None => vec!["Counting…".to_owned()],
        Some(Err(error)) => vec![sentence_case(error.sentence())],
        Some(Ok(None)) => vec!["Nothing to compact: the context holds only the last turn.".to_owned()],
        Some(Ok(Some(preview))) => words(&preview).into(),
    };
    let submit = Callback::new(move |()| {
        let pod = pod.pod.clone();
        deed.begin(Box::pin(async move {
            control_pod(pod, fresh_command(), ControlVerb::Compact).await?;
            live::close_dialog("compact");
            Ok(())
        }));
    });
    view! {
        <FormDialog id="compact" title="Compact the context" submit="Compact" deed=deed is_over=is_over on_submit=submit>
            <div role="status" class="facts">
                {redrawn(move || said().into_iter().map(|line| view! { <p>{line}</p> }.into_any()).collect_view())}
            </div>
        </FormDialog>
    }
}

fn words(preview: &CompactionPreview) -> [String; 3] {
    [
        format!(
            "{} will be replaced by a summary that the model writes; {} stay as they are.",
            counted(u64::from(preview.dropped), "message"),
            counted(u64::from(preview.kept), "message")
        ),
        format!(
            "The context goes from {} to about {} tokens plus the summary.",
            tokens_words(preview.tokens_now),
            tokens_words(preview.tokens_kept)
        ),
        "The transcript keeps everything.".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preview_says_what_goes_what_stays_and_how_much_that_is() {
        let preview = CompactionPreview {
            dropped: 12,
            kept: 1,
            kept_from_seq: protocol::Seq(40),
            tokens_now: 41_300,
            tokens_kept: 9_100,
        };
        let words = words(&preview);
        assert_eq!(
            words[0],
            "12 messages will be replaced by a summary that the model writes; 1 message stay as they are."
        );
        assert_eq!(words[1], "The context goes from 41k to about 9.1k tokens plus the summary.");
    }
}
