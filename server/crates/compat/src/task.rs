//! Keeps one older Pod connected as long as there is a socket of its name.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::Semaphore,
    time::{Instant, sleep},
};

use crate::{connection::Gone, pod::Pod, session};

/// The wait before the first retry; it doubles up to …
const BACKOFF_MIN: Duration = Duration::from_millis(100);
/// … this.
const BACKOFF_MAX: Duration = Duration::from_secs(5);
/// A connection that lasted this long counts as stable.
const STEADY: Duration = Duration::from_secs(10);

/// Runs until it is dropped.
pub(crate) async fn keep_connected(pod: Arc<Pod>, long_lines: Arc<Semaphore>) {
    let mut socket = pod.socket.subscribe();
    let (mut wait, mut connection) = (BACKOFF_MIN, 0_u64);
    let mut told: Option<Gone> = None;
    loop {
        let found = match socket.wait_for(Option::is_some).await {
            Ok(path) => path.clone(),
            Err(_) => return,
        };
        let Some(path) = found else { continue };
        connection += 1;
        let begun = Instant::now();
        let label = format!("{}{connection}", &pod.instance);
        let gone = Box::pin(session::serve(&pod, &path, long_lines.clone(), label)).await;
        if told.as_ref() != Some(&gone) {
            tracing::warn!(pod = %pod.name, reason = %gone, "debug mode: an older Pod is not connected");
        }
        told = Some(gone);
        if begun.elapsed() >= STEADY {
            wait = BACKOFF_MIN;
        }
        tokio::select! {
            () = sleep(wait) => wait = (wait * 2).min(BACKOFF_MAX),
            _ = socket.changed() => wait = BACKOFF_MIN,
            () = pod.poke.notified() => wait = BACKOFF_MIN,
        }
    }
}
