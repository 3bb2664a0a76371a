//! The state of one request, shared by both sides of the gate.

use std::{
    any::Any,
    collections::HashMap,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::Poll,
};

use serde_json::{Map, Value};
use tokio::runtime::{Handle, RuntimeFlavor};

use super::super::{failure::Refused, ollama};
use crate::ProviderError;

/// The format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vendor) enum Shape {
    /// Server-sent events.
    Events,
    /// A JSON value on each line.
    Lines,
    /// One JSON value.
    Whole,
}

/// What the library cannot express in a request's body.
#[derive(Debug, Default)]
pub(in crate::vendor) struct Extra {
    /// Fields to add.
    pub(in crate::vendor) fields: Map<String, Value>,
    /// JSON that replaces the library's messages.
    pub(in crate::vendor) messages: Option<String>,
}

/// The requests in progress.
#[derive(Debug, Default)]
pub(super) struct Asks {
    open: Mutex<(u64, HashMap<u64, Arc<Asked>>)>,
}

/// What the gate reports about a request.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) shape: Shape,
    extra: Extra,
    /// Why the gate gave up. The library only sees a broken connection.
    failure: Mutex<Option<ProviderError>>,
    refused: Mutex<Option<Refused>>,
    is_heavy: AtomicBool,
}

/// One request. Dropping it closes the way for anything that arrives later.
#[derive(Debug)]
pub(in crate::vendor) struct Ask {
    number: u64,
    asked: Arc<Asked>,
    asks: Arc<Asks>,
}

impl Asks {
    pub(super) fn begin(asks: &Arc<Self>, shape: Shape, extra: Extra) -> Ask {
        let asked = Arc::new(Asked {
            shape,
            extra,
            failure: Mutex::default(),
            refused: Mutex::default(),
            is_heavy: AtomicBool::new(false),
        });
        let mut open = asks.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.0 += 1;
        let number = open.0;
        open.1.insert(number, Arc::clone(&asked));
        Ask { number, asked, asks: Arc::clone(asks) }
    }

    pub(super) fn find(&self, number: u64) -> Option<Arc<Asked>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).1.get(&number).cloned()
    }
}

impl Drop for Ask {
    fn drop(&mut self) {
        self.asks.open.lock().unwrap_or_else(PoisonError::into_inner).1.remove(&self.number);
    }
}

impl Asked {
    /// The library's request body as it goes out.
    pub(super) fn worded(&self, body: Vec<u8>) -> Vec<u8> {
        let body = match &self.extra.messages {
            Some(messages) => ollama::with_messages(body, messages),
            None => body,
        };
        with_fields(body, &self.extra.fields)
    }

    pub(super) fn fail(&self, error: ProviderError) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Records that the provider returned something other than an answer.
    pub(super) fn refuse(&self, refused: Refused) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(refused);
    }

    /// Marks what goes to the library next as slow to parse.
    pub(super) fn is_heavy_from_now_on(&self) {
        self.is_heavy.store(true, Relaxed);
    }
}

/// The library panicked.
#[derive(Debug)]
pub(in crate::vendor) struct Panicked(#[expect(dead_code, reason = "for Debug")] Box<dyn Any + Send>);

impl Ask {
    /// The base URL that the library uses for the provider.
    pub(in crate::vendor) fn base_url(&self) -> String {
        format!("http://gate/{}/", self.number)
    }

    /// Why the gate gave up, if it did.
    pub(in crate::vendor) fn failure(&self) -> Option<ProviderError> {
        self.asked.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The provider's response in place of an answer.
    pub(in crate::vendor) fn refused(&self) -> Option<Refused> {
        self.asked.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Runs the library on what has arrived: off the runtime's threads if it is much. A panic caused by an answer
    /// ends that answer and nothing else.
    pub(in crate::vendor) fn work<T>(&self, work: impl FnOnce() -> T) -> Result<T, Panicked> {
        let work = || catch_unwind(AssertUnwindSafe(work)).map_err(Panicked);
        let is_shared = Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
        match is_shared && self.asked.is_heavy.load(Relaxed) {
            true => tokio::task::block_in_place(work),
            false => work(),
        }
    }

    /// Like [`Self::work`], for each poll of a future.
    pub(in crate::vendor) async fn drive<T>(&self, future: impl Future<Output = T>) -> Result<T, Panicked> {
        let mut future = std::pin::pin!(future);
        poll_fn(|context| match self.work(|| future.as_mut().poll(context)) {
            Ok(Poll::Ready(done)) => Poll::Ready(Ok(done)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(panicked) => Poll::Ready(Err(panicked)),
        })
        .await
    }
}

/// Adds the fields at the end, before the closing brace of the JSON object.
fn with_fields(mut body: Vec<u8>, fields: &Map<String, Value>) -> Vec<u8> {
    for (name, value) in fields {
        if body.pop() == Some(b'}') {
            body.extend_from_slice(format!(",{}:{value}}}", Value::from(name.as_str())).as_bytes());
        }
    }
    body
}
