//! One subscription as server-sent events: each event's data is the frame that the socket would send.

use std::{convert::Infallible, fmt::Write as _};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use backend::Session;
use bytes::Bytes;
use futures_util::{
    FutureExt, Stream, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use protocol::{DiagnosticCode, PodRef};

use super::{
    EventsAsked, HEARTBEAT, LOGGED_OUT, TAIL_DEFAULT, TAIL_MAX,
    asked::Watch,
    frame::{Frame, frames},
    logged_out, stopping,
};
use crate::{
    Api,
    answer::Problem,
    extract::{counted, invalid},
};

/// The id of the one subscription in its frames.
const ID: &str = "sse";

pub(super) fn open(
    api: &Api,
    session: Option<Session>,
    headers: &HeaderMap,
    asked: EventsAsked,
) -> Result<Response, Problem> {
    let listed = asked.listed()?;
    let watch = watch(headers, asked)?;
    let frames = frames(api.backend(), listed.as_ref(), ID.to_owned(), watch);
    let hello = stream::iter([Frame::hello(api.options())]);
    let frames = with_heartbeats(hello.chain(frames).boxed());
    let events = until_logged_out(frames.boxed(), logged_out(api.backend().clone(), session).boxed())
        .map(|frame| Ok::<_, Infallible>(event(&frame)))
        .take_until(stopping(api.options().shutdown.clone()));
    let mut response = Response::new(Body::from_stream(events));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

fn watch(headers: &HeaderMap, asked: EventsAsked) -> Result<Watch, Problem> {
    let tail = match asked.tail.as_deref() {
        Some("0") => 0,
        tail => counted("tail", tail, TAIL_DEFAULT, TAIL_MAX)?,
    };
    let Some(pod) = asked.pod else { return Ok(Watch::Pods) };
    let pod: PodRef = pod.parse().map_err(|error| invalid(format!("`pod`: {error}")))?;
    // A cursor that is not text is treated as an invalid one, which the stream reports.
    let last = headers.get("last-event-id").map(|id| id.to_str().unwrap_or_default().to_owned());
    // As in every list, an empty one means the beginning.
    let after = last.or(asked.after.filter(|after| !after.is_empty()));
    Ok(Watch::Pod { pod, after, tail })
}

/// Adds heartbeats during silence.
fn with_heartbeats(frames: BoxStream<'static, Frame>) -> impl Stream<Item = Frame> {
    stream::unfold(frames, async |mut frames| match tokio::time::timeout(HEARTBEAT, frames.next()).await {
        Ok(frame) => frame.map(|frame| (frame, frames)),
        Err(_) => Some((Frame::heartbeat(), frames)),
    })
}

/// When the login ends, that is the last thing to be sent.
fn until_logged_out(
    frames: BoxStream<'static, Frame>,
    logged_out: BoxFuture<'static, ()>,
) -> impl Stream<Item = Frame> {
    stream::unfold(Some((frames, logged_out)), async |state| {
        let (mut frames, mut logged_out) = state?;
        tokio::select! {
            frame = frames.next() => frame.map(|frame| (frame, Some((frames, logged_out)))),
            () = &mut logged_out => {
                Some((Frame::diagnostic(None, DiagnosticCode::Unauthorized, LOGGED_OUT.to_owned()), None))
            }
        }
    })
}

fn event(frame: &Frame) -> Bytes {
    let mut text = String::with_capacity(frame.json.len() + 64);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "event: {}", frame.kind);
    if let Some(cursor) = frame.cursor.as_deref().filter(|cursor| !cursor.contains(['\n', '\r', '\0'])) {
        let _ = writeln!(text, "id: {cursor}");
    }
    // Frames are JSON on one line: line breaks in texts are escaped.
    let _ = write!(text, "data: {}\n\n", frame.json);
    Bytes::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_its_type_its_cursor_and_one_line_of_data() {
        let frame = Frame { kind: "records", cursor: Some("c1".to_owned()), json: "{\"a\":1}".to_owned() };
        assert_eq!(event(&frame), "event: records\nid: c1\ndata: {\"a\":1}\n\n");
        assert_eq!(event(&Frame::pong()), "event: pong\ndata: {\"type\":\"pong\"}\n\n");
    }

    #[test]
    fn last_event_id_wins_over_after() {
        let (pod, after) = (Some("local/w".to_owned()), Some("a".to_owned()));
        let asked = || EventsAsked { pod: pod.clone(), after: after.clone(), tail: None, runtime: None };
        let after = |headers: &HeaderMap| match watch(headers, asked()) {
            Ok(Watch::Pod { after, .. }) => after,
            other => panic!("{other:?}"),
        };
        let mut headers = HeaderMap::new();
        assert_eq!(after(&headers).as_deref(), Some("a"));
        headers.insert("last-event-id", "b".parse().unwrap());
        assert_eq!(after(&headers).as_deref(), Some("b"));
    }

    #[test]
    fn an_empty_cursor_in_the_address_is_the_beginning() {
        let asked = |after: &str| EventsAsked {
            pod: Some("local/w".to_owned()),
            after: Some(after.to_owned()),
            tail: None,
            runtime: None,
        };
        let after = |text: &str| match watch(&HeaderMap::new(), asked(text)) {
            Ok(Watch::Pod { after, .. }) => after,
            other => panic!("{other:?}"),
        };
        assert_eq!(after(""), None);
        assert_eq!(after("c1").as_deref(), Some("c1"));
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_filled_with_heartbeats_and_the_end_is_the_end() {
        let later = stream::once(async {
            tokio::time::sleep(HEARTBEAT * 5 / 2).await;
            Frame::pong()
        });
        let kinds: Vec<_> = with_heartbeats(later.boxed()).map(|frame| frame.kind).collect().await;
        assert_eq!(kinds, ["heartbeat", "heartbeat", "pong"]);
    }
}
