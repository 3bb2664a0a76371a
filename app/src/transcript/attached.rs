//! Attached pictures and files: a picture is shown, a file is a link.

use leptos::prelude::*;
use protocol::{BlobId, BlobView, Blobs};
use transcript::{unseen, words::bytes_words};

use crate::console::blob_href;

/// A picture of limited size that links to the full one.
pub(super) fn picture(blob: &BlobId, name: Option<&str>, known: Option<&BlobView>) -> AnyView {
    let (href, shown) = (blob_href(blob), blob_href(blob));
    let name = unseen::shown(name.unwrap_or("image")).into_owned();
    let size = known.map(|known| format!(" {}", bytes_words(known.bytes))).unwrap_or_default();
    let title = format!("{name}{size}, opens in full");
    view! {
        <a class="attached" href=shown target="_blank" rel="noopener" title=title>
            <img src=href alt=name loading="lazy" decoding="async" />
        </a>
    }
    .into_any()
}

/// A link that downloads a file.
pub(super) fn file(blob: &BlobId, name: &str, known: Option<&BlobView>) -> AnyView {
    let size = known.map(|known| bytes_words(known.bytes));
    view! {
        <a class="file" href=blob_href(blob) download=name.to_owned()>
            {unseen::shown(name).into_owned()}
        </a>
        " "
        <span class="file-size">{size}</span>
    }
    .into_any()
}

/// The pictures in a tool's result.
pub(super) fn pictures(blobs: &Blobs) -> AnyView {
    blobs.0.iter().map(|known| picture(&known.blob, None, Some(known))).collect_view().into_any()
}
