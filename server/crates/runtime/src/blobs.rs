//! Pictures and files attached to conversations: how they are stored, and which of them are sent to a model.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use bytes::Bytes;
use jiff::Timestamp;
use pod::{Picture, PictureKind, ToolOutcome};
use pod_store::{BlobRow, Store};
use protocol::{
    ApiError, Attachment, BLOB_BYTES_MAX, BLOB_NAME_BYTES_MAX, BLOBS_OF_MESSAGE_MAX, BlobId, BlobView, Blobs,
    ErrorCode, Message, Role, Segment,
};
use provider::{ATTACHED_BYTES_MAX, Attached, Held, Takes, called};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use crate::{clock, heavy};

/// How long a blob that no message refers to is kept after its last use.
const UNNAMED_FOR: Duration = Duration::from_secs(24 * 60 * 60);
const SWEEP_EVERY: Duration = Duration::from_secs(60 * 60);
/// A larger attachment does not fit into a message to an agent.
const AGENT_BYTES_MAX: u64 = 5 * 1024 * 1024;
/// The media type of unknown content.
const PLAIN: &str = "application/octet-stream";

/// Stores `body`, once per content. A picture's type is detected from its bytes, and it is stored without its metadata.
///
/// # Errors
/// `invalid_input`: empty. `payload_too_large`.
pub(crate) async fn keep(store: &Store, media_type: String, body: Bytes) -> Result<BlobView, ApiError> {
    if body.is_empty() {
        return Err(ApiError::invalid("the body is empty; send the bytes of a picture or a file"));
    }
    if body.len() > BLOB_BYTES_MAX {
        let detail = format!("a picture or a file has at most {BLOB_BYTES_MAX} bytes ({} MiB)", BLOB_BYTES_MAX >> 20);
        return Err(ApiError::new(ErrorCode::PayloadTooLarge, detail));
    }
    let (view, body) = heavy::work(body.len(), move || told(media_type, body)).await;
    if let Some(known) = store.blobs().find(&view.blob).await? {
        store.blobs().touch(vec![known.blob.clone()], clock::now()).await?;
        return Ok(known);
    }
    store.blobs().put(BlobRow { view: view.clone(), body, created_at: clock::now() }).await?;
    // If the same content arrives twice at once under different types, the first one wins.
    Ok(store.blobs().find(&view.blob).await?.unwrap_or(view))
}

/// Periodically removes blobs that no message refers to, until the host stops.
pub(crate) async fn sweep(store: Store, stopping: CancellationToken) {
    loop {
        tokio::select! {
            () = stopping.cancelled() => return,
            () = tokio::time::sleep(SWEEP_EVERY) => (),
        }
        let before = clock::now().checked_sub(UNNAMED_FOR).unwrap_or(Timestamp::MIN);
        if let Err(error) = store.blobs().sweep(before).await {
            tracing::warn!(%error, "files that nobody names were not taken out; that is tried again");
        }
    }
}

/// What the content is, and the bytes of it that are stored.
fn told(media_type: String, body: Bytes) -> (BlobView, Bytes) {
    let picture =
        PictureKind::of(&body).and_then(|kind| Some((kind.media_type().to_owned(), kind.bare(&body)?.into())));
    let (media_type, body) = picture.unwrap_or_else(|| {
        let is_unsaid = media_type == PLAIN || media_type.starts_with("image/");
        let media_type = match is_unsaid || body.starts_with(b"%PDF-") {
            true => plain(&body).to_owned(),
            false => media_type,
        };
        (media_type, body)
    });
    let hex = Sha256::digest(&body).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let blob = BlobId::parse(&hex).expect("a hash is 64 hex digits");
    (BlobView { blob, media_type, bytes: body.len() as u64 }, body)
}

/// Stores the picture that a tool returned. If that fails, the outcome says so.
pub(crate) async fn keep_shown(store: &Store, outcome: &mut ToolOutcome) {
    let Some(Picture { kind, bytes }) = outcome.picture.take() else { return };
    match keep(store, kind.media_type().to_owned(), bytes.into()).await {
        Ok(view) => outcome.blobs.0.push(view),
        Err(error) => {
            let failed =
                ToolOutcome::failed(error.code.as_str(), format!("the picture was not kept: {}", error.detail));
            *outcome = failed;
        }
    }
}

/// The media type of content that is no picture and was not given a usable type.
fn plain(body: &[u8]) -> &'static str {
    match str::from_utf8(body) {
        _ if body.starts_with(b"%PDF-") => "application/pdf",
        Ok(text) if !text.contains('\0') => "text/plain",
        _ => PLAIN,
    }
}

/// The blobs that the segments of a message refer to, as they are stored.
///
/// # Errors
/// `invalid_input`: a blob that is not stored here, is called a picture but is none, or has no name; or too many bytes.
pub(crate) async fn named(store: &Store, segments: &[Segment]) -> Result<Blobs, ApiError> {
    let mut blobs = Blobs::default();
    // An attachment that is named twice goes to the model twice.
    if segments.iter().filter_map(Segment::blob).count() > BLOBS_OF_MESSAGE_MAX {
        return Err(ApiError::invalid(format!("a message has at most {BLOBS_OF_MESSAGE_MAX} pictures and files")));
    }
    for segment in segments {
        let Some(blob) = segment.blob() else { continue };
        check_name(segment)?;
        let known = match blobs.find(blob) {
            Some(known) => known.clone(),
            None => store.blobs().find(blob).await?.ok_or_else(|| {
                let sentence =
                    format!("the message names the blob {blob}, which is not here; POST /api/v1/blobs first");
                ApiError::invalid(sentence)
            })?,
        };
        if matches!(segment, Segment::Image { .. }) && PictureKind::of_media_type(&known.media_type).is_none() {
            let sentence =
                format!("the blob {blob} is {}, and no picture; send it as a segment of type file", known.media_type);
            return Err(ApiError::invalid(sentence));
        }
        if blobs.find(blob).is_none() {
            blobs.0.push(known);
        }
    }
    // Keeps the sweep from removing them before the message is stored.
    store.blobs().touch(blobs.0.iter().map(|view| view.blob.clone()).collect(), clock::now()).await?;
    Ok(blobs)
}

fn check_name(segment: &Segment) -> Result<(), ApiError> {
    let name = match segment {
        Segment::Image { name: Some(name), .. } | Segment::File { name, .. } => name,
        _ => return Ok(()),
    };
    let is_fit = !name.trim().is_empty() && name.len() <= BLOB_NAME_BYTES_MAX && !name.chars().any(char::is_control);
    match is_fit {
        true => Ok(()),
        false => Err(ApiError::invalid(format!(
            "the name of a picture or file is one line of 1 to {BLOB_NAME_BYTES_MAX} bytes"
        ))),
    }
}

/// The attachments of the messages that a model is sent, newest first as far as there is room, and what people are told
/// about new ones that are not sent.
pub(crate) async fn attached(
    store: &Store,
    takes: Takes,
    messages: &[Message],
) -> Result<(Attached, Vec<String>), ApiError> {
    let answered = messages.iter().rposition(|message| message.role == Role::Assistant).map_or(0, |at| at + 1);
    let mut held: HashMap<BlobId, Held> = HashMap::new();
    // An attachment is sent in every place where it is named.
    let mut places: HashMap<&BlobId, usize> = HashMap::new();
    for attachment in messages.iter().flat_map(|message| &message.attachments) {
        *places.entry(&attachment.blob).or_default() += 1;
    }
    let (mut room, mut untold, mut told) = (ATTACHED_BYTES_MAX, Vec::new(), HashSet::new());
    for (at, message) in messages.iter().enumerate().rev() {
        for attachment in message.attachments.iter().rev() {
            if !held.contains_key(&attachment.blob) {
                let places = places.get(&attachment.blob).copied().unwrap_or(1);
                let one = held_within(store, takes, attachment, (room, places)).await?;
                room -= one.len() * places;
                held.insert(attachment.blob.clone(), one);
            }
            if let Some(Held::Not(why)) = held.get(&attachment.blob)
                && at >= answered
                && told.insert(&attachment.blob)
            {
                untold.push(format!("{} was not sent to the model, which was told so: {why}", called(attachment)));
            }
        }
    }
    untold.reverse();
    Ok((held.into_iter().collect(), untold))
}

/// Returns a picture or a file as it is sent to an agent, with its media type; `None` if it is gone or too large.
pub(crate) async fn for_agent(store: &Store, attachment: &Attachment) -> Result<Option<(String, Bytes)>, ApiError> {
    let Some(BlobView { media_type, bytes, .. }) = store.blobs().find(&attachment.blob).await? else { return Ok(None) };
    if bytes > AGENT_BYTES_MAX {
        return Ok(None);
    }
    Ok(store.blobs().read(&attachment.blob).await?.map(|(_, body)| (media_type, body)))
}

async fn held_within(
    store: &Store,
    takes: Takes,
    attachment: &Attachment,
    (room, places): (usize, usize),
) -> Result<Held, ApiError> {
    let room = room / places;
    // The record's description is for people; what counts is what is stored.
    let Some(BlobView { media_type, bytes, .. }) = store.blobs().find(&attachment.blob).await? else {
        return Ok(Held::Not("it is not kept here".to_owned()));
    };
    if let Some(why) = takes.refusal(&media_type, bytes) {
        return Ok(Held::Not(why));
    }
    let too_much = || {
        Held::Not(match places {
            1 => format!("newer ones take all the room that a question has ({ATTACHED_BYTES_MAX} bytes)"),
            _ => format!(
                "it stands here {places} times, and a question has no room for that ({ATTACHED_BYTES_MAX} bytes)"
            ),
        })
    };
    if PictureKind::of_media_type(&media_type).is_some() && bytes > room as u64 {
        return Ok(too_much());
    }
    let Some((_, body)) = store.blobs().read(&attachment.blob).await? else {
        return Ok(Held::Not("it is not kept here".to_owned()));
    };
    let one = heavy::work(body.len(), move || takes.hold(&media_type, body)).await;
    Ok(if one.len() > room { too_much() } else { one })
}

#[cfg(test)]
mod tests {
    use pod_store::StoreOptions;

    use super::*;

    #[tokio::test]
    async fn what_stands_at_several_places_takes_room_at_each() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(StoreOptions::sqlite(folder.path().join("yoi.db"))).await.unwrap();
        let words = Bytes::from("x".repeat(200 * 1024));
        let BlobView { blob, media_type, bytes } = keep(&store, "text/plain".to_owned(), words).await.unwrap();
        let takes = provider::Providers::new(Vec::new()).unwrap().takes("rehearsal", "rehearsal");
        let held = async |places: usize| {
            let one = Attachment { blob: blob.clone(), media_type: media_type.clone(), bytes, name: None };
            let message = Message { attachments: vec![one], ..Message::new(Role::User, "look") };
            attached(&store, takes, &vec![message; places]).await.unwrap()
        };
        let (few, untold) = held(70).await;
        assert!(format!("{few:?}").contains("Text(204800 bytes)"), "{few:?}");
        assert_eq!(untold, Vec::<String>::new());
        let (many, untold) = held(80).await;
        assert!(format!("{many:?}").contains("Not("), "{many:?}");
        assert!(untold.len() == 1 && untold[0].contains("80 times"), "{untold:?}");
    }

    #[tokio::test]
    async fn a_message_names_no_more_than_20_however_often_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(StoreOptions::sqlite(folder.path().join("yoi.db"))).await.unwrap();
        let kept = keep(&store, "text/plain".to_owned(), Bytes::from_static(b"words")).await.unwrap();
        let file = Segment::File { blob: kept.blob, name: "a.txt".to_owned() };
        assert_eq!(named(&store, &vec![file.clone(); 20]).await.unwrap().0.len(), 1);
        assert_eq!(named(&store, &vec![file; 21]).await.unwrap_err().code, protocol::ErrorCode::InvalidInput);
    }

    #[test]
    fn what_is_kept_is_what_its_bytes_say() {
        let kept =
            |media_type: &str, body: &'static [u8]| told(media_type.to_owned(), Bytes::from_static(body)).0.media_type;
        assert_eq!(kept("text/plain", b"words"), "text/plain");
        assert_eq!(kept("image/png", b"<html>"), "text/plain", "it says that it is a picture");
        assert_eq!(kept("image/svg+xml", b"<svg onload=\"alert(1)\"/>"), "text/plain");
        assert_eq!(kept("application/octet-stream", b"%PDF-1.7"), "application/pdf");
        assert_eq!(kept("image/png", b"\x89PNG\r\n\x1a\n and no more"), PLAIN, "it is not made as one");
        let gif = b"GIF89a\x01\0\x01\0\0\0\0\x3b";
        assert_eq!(kept("text/html", gif), "image/gif", "it is one");
    }
}
