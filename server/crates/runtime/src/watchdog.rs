//! Measures how long tasks hold the shared threads without yielding.
//!
//! A task that does not return from `poll` keeps its thread from all others. Each poll of the tasks that do the work is
//! timed here: those of Pods, of connections, and of what carries records. A thread of its own watches polls that are
//! under way, so that one which never ends is reported too.

use std::{
    cell::Cell,
    future::Future,
    pin::Pin,
    sync::{
        Once,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll},
    thread,
    time::{Duration, Instant},
};

/// How many seconds the figure covers.
const SECONDS: usize = 60;
/// A longer step is logged.
const STEP_MAX: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How many threads are watched; on a machine with more, the last ones share a slot.
const THREADS_MAX: usize = 256;

static LONGEST: [AtomicU64; SECONDS] = [const { AtomicU64::new(0) }; SECONDS];
/// When the step on each thread began, in milliseconds; 0 for none.
static BEGAN: [AtomicU64; THREADS_MAX] = [const { AtomicU64::new(0) }; THREADS_MAX];

/// A task whose steps are timed.
#[derive(Debug)]
pub struct Watched<Task>(Pin<Box<Task>>);

/// Times each step of `task`.
pub fn watched<Task: Future>(task: Task) -> Watched<Task> {
    start();
    Watched(Box::pin(task))
}

impl<Task: Future> Future for Watched<Task> {
    type Output = Task::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Task::Output> {
        let _step = Step::begin();
        self.0.as_mut().poll(context)
    }
}

/// The longest step that is under way or ended in the last minute.
pub(crate) fn longest_step() -> Duration {
    let going_on = BEGAN.iter().map(|began| began.load(Relaxed)).filter(|began| *began > 0);
    let going_on = going_on.map(|began| now_ms().saturating_sub(began) * 1_000).max().unwrap_or(0);
    let ended = LONGEST.iter().map(|micros| micros.load(Relaxed)).max().unwrap_or(0);
    Duration::from_micros(going_on.max(ended))
}

/// One step. Dropping it ends the step, also when the task panics.
struct Step {
    began: Instant,
    /// Steps may be nested; only the outer one counts.
    is_outer: bool,
}

impl Step {
    fn begin() -> Self {
        let is_outer = BEGAN[place()].compare_exchange(0, now_ms().max(1), Relaxed, Relaxed).is_ok();
        Self { began: Instant::now(), is_outer }
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if !self.is_outer {
            return;
        }
        BEGAN[place()].store(0, Relaxed);
        let micros = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        LONGEST[second(now_ms())].fetch_max(micros, Relaxed);
    }
}

/// This thread's slot.
fn place() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static PLACE: Cell<Option<usize>> = const { Cell::new(None) });
    PLACE.with(|place| {
        let found = place.get().unwrap_or_else(|| NEXT.fetch_add(1, Relaxed).min(THREADS_MAX - 1));
        place.set(Some(found));
        found
    })
}

fn now_ms() -> u64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn second(ms: u64) -> usize {
    usize::try_from(ms / 1_000).unwrap_or(0) % SECONDS
}

fn start() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        if let Err(error) = thread::Builder::new().name("watchdog".to_owned()).spawn(look) {
            tracing::warn!(%error, "slow steps are not reported: there is no thread for it");
        }
    });
}

/// Forgets what is older than a minute, and logs each long step once.
fn look() {
    let mut told = [0_u64; THREADS_MAX];
    let mut at = second(now_ms());
    loop {
        thread::sleep(LOOK_EVERY);
        let now = now_ms();
        if second(now) != at {
            at = second(now);
            LONGEST[(at + 1) % SECONDS].store(0, Relaxed);
        }
        for (began, told) in BEGAN.iter().zip(&mut told) {
            let began = began.load(Relaxed);
            if began > 0 && began != *told && Duration::from_millis(now.saturating_sub(began)) > STEP_MAX {
                *told = began;
                tracing::warn!(ms = now - began, "a task holds a thread that others wait for");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_longest_step_is_told_while_it_goes_on_and_when_it_has_ended() {
        let enough = Duration::from_millis(30);
        let seen = watched(async {
            let began = Instant::now();
            // Hold the thread until it shows.
            while longest_step() < enough {
                assert!(began.elapsed() < Duration::from_secs(60), "it never showed");
                std::hint::spin_loop();
            }
            longest_step()
        })
        .await;
        assert!(seen >= enough);
        // While it goes on, it is told in whole milliseconds of the clock, so up to one too many.
        assert!(longest_step() >= enough - Duration::from_millis(1), "{:?}", longest_step());
    }

    #[tokio::test]
    async fn a_task_that_waits_holds_nothing() {
        let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
        let waiting = tokio::spawn(watched(receiver));
        tokio::task::yield_now().await;
        sender.send(()).unwrap();
        waiting.await.unwrap().unwrap();
        assert_eq!(BEGAN[place()].load(Relaxed), 0);
    }
}
