//! Uploads pictures and files for a message.

use leptos::{prelude::*, task::spawn_local};
use protocol::{BLOB_BYTES_MAX, BLOBS_OF_MESSAGE_MAX, ErrorCode, McpResource, Segment};

use super::sending::Outgoing;
use crate::{
    UiError,
    live::{self, Picked},
    server_fns::attach_resource,
};

/// The hidden file input that opens the browser's file dialog.
const INPUT: &str = "attach-files";

/// The button that opens the file dialog.
#[component]
pub(super) fn AttachButton(outgoing: Outgoing) -> impl IntoView {
    let mebibytes = BLOB_BYTES_MAX >> 20;
    let title = format!("Attach pictures or files, up to {mebibytes} MiB each; or paste or drop them");
    view! {
        <input
            type="file"
            id=INPUT
            multiple=true
            hidden=true
            aria-label="Files to attach"
            on:change=move |_| attach(outgoing, live::chosen_files(INPUT))
        />
        <button
            type="button"
            class="button attach"
            aria-label="Attach files"
            title=title
            on:click=move |_| live::ask_for_files(INPUT)
        >
            "+"
        </button>
    }
}

/// Uploads each file separately; those that the server keeps go with the message.
pub(super) fn attach(outgoing: Outgoing, files: Vec<Picked>) {
    for picked in files {
        let room =
            outgoing.draft.with_untracked(|draft| draft.attached.len()) + outgoing.attaching.with_untracked(Vec::len);
        if let Some(why) = refusal(&picked, room) {
            outgoing.refuse(why);
            continue;
        }
        let name = picked.name.clone();
        outgoing.attaching.update(|names| names.push(name.clone()));
        spawn_local(async move {
            let kept = live::keep_file(picked).await;
            outgoing.attaching.try_update(|names| {
                if let Some(at) = names.iter().position(|known| *known == name) {
                    names.remove(at);
                }
            });
            match kept {
                Ok(view) => {
                    outgoing.draft.try_update(|draft| draft.attached.push(Segment::kept(&view, name)));
                }
                Err(error) => {
                    let sentence = format!("{name} was not attached: {}", error.sentence());
                    outgoing.error.try_set(Some(UiError::new(error.code(), sentence)));
                }
            }
        });
    }
}

/// Attaches the content of a resource, which the server reads.
pub(super) fn attach_content(outgoing: Outgoing, resource: McpResource) {
    let McpResource { server, uri, name, .. } = resource;
    let (pod, shown) = (outgoing.pod.pod.get_value(), name.clone());
    outgoing.attaching.update(|names| names.push(shown.clone()));
    spawn_local(async move {
        let kept = attach_resource(pod, server, uri, name).await;
        outgoing.attaching.try_update(|names| {
            if let Some(at) = names.iter().position(|known| *known == shown) {
                names.remove(at);
            }
        });
        match kept {
            Ok(segment) => {
                outgoing.draft.try_update(|draft| draft.attached.push(segment));
            }
            Err(error) => {
                let sentence = format!("{shown} was not attached: {}", error.sentence());
                outgoing.error.try_set(Some(UiError::new(error.code(), sentence)));
            }
        }
    });
}

fn refusal(picked: &Picked, room: usize) -> Option<String> {
    let name = &picked.name;
    if picked.bytes > BLOB_BYTES_MAX as f64 {
        return Some(format!("{name} is larger than {} MiB, the limit for an attachment", BLOB_BYTES_MAX >> 20));
    }
    if picked.bytes == 0.0 {
        return Some(format!("{name} is empty, or is a folder; attach a file"));
    }
    (room >= BLOBS_OF_MESSAGE_MAX)
        .then(|| format!("{name} was not attached: a message has at most {BLOBS_OF_MESSAGE_MAX}"))
}

/// True while an upload is running, and says so: the message is not sent before it ends.
pub(super) fn is_attaching(outgoing: Outgoing) -> bool {
    let is = outgoing.attaching.with_untracked(|names| !names.is_empty());
    if is {
        outgoing
            .error
            .set(Some(UiError::new(ErrorCode::Busy, "a file is still being uploaded; send again in a moment")));
    }
    is
}
