//! One connection for the whole page, kept for ever: it reconnects, resumes by cursor, and reports its state.

use std::cell::RefCell;

use follow::{SILENCE_MS_MAX, delay_ms};
use futures_util::{
    SinkExt, StreamExt,
    future::{self, Either},
    stream,
};
use gloo_net::{
    http::Request,
    websocket::{Message, futures::WebSocket},
};
use gloo_timers::future::{IntervalStream, TimeoutFuture};
use leptos::prelude::*;
use protocol::{PodRef, Seq};
use wasm_bindgen::{JsCast, closure::Closure};
use wasm_bindgen_futures::spawn_local;

use crate::{
    console::Console,
    format,
    live::browser,
    reconnect::Link,
    stream::{PodFeed, bell::Bell, hub::Hub},
};

/// How often a silent connection is checked, in milliseconds.
const LOOK_MS: u32 = 1_000;
/// How long "caught up" stays on the page, in milliseconds.
const GAP_WORDS_MS: u32 = 60_000;

thread_local! {
    static HUB: RefCell<Option<Hub>> = const { RefCell::new(None) };
    static BELL: Bell = Bell::default();
}

fn with_hub<T>(use_it: impl FnOnce(&mut Hub) -> T) -> Option<T> {
    HUB.with_borrow_mut(|hub| hub.as_mut().map(use_it))
}

/// Keeps from now on what is watched. Called once, before anything is: a page may watch a Pod before it is connected.
pub(crate) fn prepare(console: Console) {
    HUB.with_borrow_mut(|hub| *hub = Some(Hub::new(console)));
}

/// Connects this page to the server. Called once.
pub(crate) fn connect(console: Console) {
    console.link.set(Link::Connecting);
    for event in ["online", "offline", "focus"] {
        wake_on(event);
    }
    spawn_local(stay_connected(console));
}

/// Watches a Pod from a cursor on. Only one is watched at a time; the returned number ends exactly this watch.
pub(crate) fn watch(pod: PodRef, cursor: String, applied: Seq, listener: impl FnMut(PodFeed) + 'static) -> u64 {
    let number = with_hub(|hub| hub.watch(pod, cursor, applied, Box::new(listener)));
    BELL.with(Bell::ring);
    number.unwrap_or_default()
}

/// Ends a watch. Returns where it had got to: resuming from there misses nothing.
pub(crate) fn unwatch(number: u64) -> Option<(String, Seq)> {
    let reached = with_hub(|hub| hub.unwatch(number)).flatten();
    BELL.with(Bell::ring);
    reached
}

/// Retries at once when this event occurs, such as the network coming back.
fn wake_on(event: &str) {
    let ring = Closure::<dyn Fn()>::new(|| BELL.with(Bell::ring));
    let _ = browser::window().add_event_listener_with_callback(event, ring.as_ref().unchecked_ref());
    ring.forget();
}

async fn stay_connected(console: Console) {
    let mut attempt = 0;
    loop {
        let _ = one_connection(console).await;
        if with_hub(|hub| hub.is_locked_out) == Some(true) {
            return browser::go_to_login();
        }
        if with_hub(Hub::lost) == Some(true) {
            attempt = 0;
        } else if login_has_expired().await {
            return browser::go_to_login();
        }
        if console.stale_since.get_untracked().is_none() {
            console.stale_since.set(Some(format::moment(browser::now_ms())));
        }
        attempt += 1;
        let wait_ms = delay_ms(attempt, js_sys::Math::random());
        console.link.set(match browser::window().navigator().on_line() {
            true => Link::Reconnecting { attempt },
            false => Link::Offline,
        });
        let mut bell = BELL.with(Bell::clone);
        future::select(TimeoutFuture::new(wait_ms as u32), bell.next()).await;
    }
}

enum Happened {
    Frame(Option<String>),
    Look,
}

/// Runs one connection until it ends.
async fn one_connection(console: Console) -> Option<()> {
    let location = browser::window().location();
    let scheme = if location.protocol().ok()? == "https:" { "wss" } else { "ws" };
    let socket = WebSocket::open(&format!("{scheme}://{}/api/v1/events", location.host().ok()?)).ok()?;
    let (mut sink, frames) = socket.split();
    let frames = frames.map(|frame| match frame {
        Ok(Message::Text(text)) => Happened::Frame(Some(text)),
        Ok(Message::Bytes(_)) => Happened::Look,
        Err(_) => Happened::Frame(None),
    });
    let looks = stream::select(BELL.with(Bell::clone), IntervalStream::new(LOOK_MS)).map(|()| Happened::Look);
    let mut happenings = stream::select(frames, looks);
    let mut heard_at = browser::monotonic_ms();
    while let Some(happened) = happenings.next().await {
        match happened {
            Happened::Frame(None) => return None,
            Happened::Frame(Some(text)) => {
                heard_at = browser::monotonic_ms();
                match with_hub(|hub| hub.take(text, heard_at as u64))? {
                    Ok(Some(words)) => say_for_a_while(console, words),
                    Ok(None) => (),
                    Err(error) => leptos::logging::warn!("a frame of the event stream is not understood: {error}"),
                }
            }
            Happened::Look if browser::monotonic_ms() - heard_at > SILENCE_MS_MAX as f64 => return None,
            Happened::Look => (),
        }
        if with_hub(|hub| hub.is_locked_out)? {
            return None;
        }
        for frame in with_hub(|hub| hub.outgoing(browser::monotonic_ms() as u64))? {
            let text = serde_json::to_string(&frame).ok()?;
            let sent = Box::pin(sink.send(Message::Text(text)));
            match future::select(sent, TimeoutFuture::new(SILENCE_MS_MAX as u32)).await {
                Either::Left((Ok(()), _)) => (),
                _ => return None,
            }
        }
    }
    None
}

/// A browser does not say why a WebSocket was refused; a plain request does.
async fn login_has_expired() -> bool {
    match Request::get("/api/v1/runtimes").send().await {
        Ok(response) => response.status() == 401,
        Err(_) => false,
    }
}

fn say_for_a_while(console: Console, words: String) {
    console.gap_words.set(Some(words.clone()));
    browser::after(GAP_WORDS_MS, move || {
        if console.gap_words.get_untracked().as_ref() == Some(&words) {
            console.gap_words.set(None);
        }
    });
}
