//! What is known of one question on both sides of the gate.

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

use tokio::runtime::{Handle, RuntimeFlavor};

use super::super::{failure::Refused, ollama};
use crate::ProviderError;

/// What an answer is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vendor) enum Shape {
    /// Server-sent events.
    Events,
    /// A JSON value on each line.
    Lines,
    /// One JSON value.
    Whole,
}

/// The questions that are on their way.
#[derive(Debug, Default)]
pub(super) struct Asks {
    open: Mutex<(u64, HashMap<u64, Arc<Asked>>)>,
}

/// What the gate tells of a question.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) shape: Shape,
    messages: Option<String>,
    /// Why the gate gave up. The library only sees a connection that breaks.
    failure: Mutex<Option<ProviderError>>,
    refused: Mutex<Option<Refused>>,
    is_heavy: AtomicBool,
}

/// One question. What comes for it afterwards has no way in.
#[derive(Debug)]
pub(in crate::vendor) struct Ask {
    number: u64,
    asked: Arc<Asked>,
    asks: Arc<Asks>,
}

impl Asks {
    pub(super) fn begin(asks: &Arc<Self>, shape: Shape, messages: Option<String>) -> Ask {
        let asked = Arc::new(Asked {
            shape,
            messages,
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
    /// The library's question as it goes out.
    pub(super) fn worded(&self, question: Vec<u8>) -> Vec<u8> {
        match &self.messages {
            Some(messages) => ollama::with_messages(question, messages),
            None => question,
        }
    }

    pub(super) fn fail(&self, error: ProviderError) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// The provider did not answer what was asked.
    pub(super) fn refuse(&self, refused: Refused) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(refused);
    }

    /// What goes to the library next takes long to parse.
    pub(super) fn is_heavy_from_now_on(&self) {
        self.is_heavy.store(true, Relaxed);
    }
}

/// The library gave up without a word.
#[derive(Debug)]
pub(in crate::vendor) struct Panicked(#[expect(dead_code, reason = "for Debug")] Box<dyn Any + Send>);

impl Ask {
    /// What the library takes for the provider's address.
    pub(in crate::vendor) fn base_url(&self) -> String {
        format!("http://gate/{}/", self.number)
    }

    /// Why the gate gave up, if it did.
    pub(in crate::vendor) fn failure(&self) -> Option<ProviderError> {
        self.asked.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the provider said in the place of an answer.
    pub(in crate::vendor) fn refused(&self) -> Option<Refused> {
        self.asked.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets the library work on what has come: beside the runtime's threads when it is much. A panic over somebody's answer ends
    /// that answer and nothing else.
    pub(in crate::vendor) fn work<T>(&self, work: impl FnOnce() -> T) -> Result<T, Panicked> {
        let work = || catch_unwind(AssertUnwindSafe(work)).map_err(Panicked);
        let is_shared = Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
        match is_shared && self.asked.is_heavy.load(Relaxed) {
            true => tokio::task::block_in_place(work),
            false => work(),
        }
    }

    /// As [`Self::work`], for each step of a future.
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
