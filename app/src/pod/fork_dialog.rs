use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use protocol::{ErrorCode, ForkCommand, PodName, PodSummary, Seq};

use crate::{
    UiError,
    components::{deed::Deed, dialog::FormDialog, text_field::TextField},
    console::{fresh_command, pod_href, use_console},
    live,
    server_fns::fork_pod,
};

/// Asks for the new Pod's name, says what history it begins with, and opens it.
#[component]
pub(crate) fn ForkDialog(pod: PodSummary, at: Option<Seq>) -> impl IntoView {
    let console = use_console();
    let navigate = use_navigate();
    let name = RwSignal::new(String::new());
    let deed = Deed::default();
    let (title, facts) = (format!("Fork {}", pod.name), words(at));
    let submit = Callback::new(move |()| {
        let name = match PodName::parse(name.get_untracked().trim()) {
            Ok(name) => name,
            Err(refusal) => return deed.refuse(UiError::new(ErrorCode::InvalidInput, refusal.to_string())),
        };
        let (pod, navigate) = (pod.pod.clone(), navigate.clone());
        deed.begin(Box::pin(async move {
            let made = fork_pod(pod, fresh_command(), ForkCommand { name, at_seq: at }).await?;
            live::close_dialog("fork");
            console.is_writing.set_value(true);
            navigate(&pod_href(&made.pod), Default::default());
            Ok(())
        }));
    });
    view! {
        <FormDialog id="fork" title=title submit="Fork" deed=deed on_submit=submit>
            <TextField id="fork-name" label="Name" value=name hint="The new Pod's name." />
            <p class="facts">{facts}</p>
        </FormDialog>
    }
}

fn words(at: Option<Seq>) -> String {
    let history = match at {
        Some(at) => format!("the history up to record {at}"),
        None => "the whole history".to_owned(),
    };
    format!("It begins with {history} and has the same settings and folder, but no peers and no children.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dialog_says_where_the_history_ends() {
        assert!(words(None).starts_with("It begins with the whole history and"));
        assert!(words(Some(Seq(12))).starts_with("It begins with the history up to record 12 and"));
    }
}
