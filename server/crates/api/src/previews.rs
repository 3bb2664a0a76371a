//! Previews: ports of a Pod's commands, each shown to a person on an origin of its own.
//!
//! The origin is `p-LABEL.localhost`, another site than the console's. What is served there is written by a model, so it is taken for
//! hostile: it gets no cookie and no header of the console, and nothing of the console is there. Whoever wants in needs a code, which
//! the console gives, and then has a cookie of that host alone.

mod door;
mod forward;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::{ApiError, ErrorCode, PodRef};

pub(crate) use self::door::{label_of, show};
use crate::guard::LoginCodes;

/// Open at once; one more is refused.
const PREVIEWS_MAX: usize = 64;
/// Of a label and of a cookie, in bytes.
const SECRET_BYTES: usize = 16;

/// Those that are open now. They end with the server.
#[derive(Debug, Default)]
pub(crate) struct Previews(Mutex<Vec<Arc<Opened>>>);

/// One of them.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) pod: PodRef,
    pub(crate) port: u16,
    /// Of its host: `p-` and hex digits.
    pub(crate) label: String,
    /// What the cookie of its host holds.
    secret: String,
    codes: LoginCodes,
}

impl Previews {
    /// The preview of this port; it is opened unless it is open already.
    pub(crate) fn open(&self, pod: &PodRef, port: u16) -> Result<Arc<Opened>, ApiError> {
        let (label, secret) = (format!("p-{}", random_hex()?), random_hex()?);
        let mut all = self.all();
        if let Some(opened) = all.iter().find(|opened| opened.is_of(pod, port)) {
            return Ok(Arc::clone(opened));
        }
        if all.len() >= PREVIEWS_MAX {
            let sentence = format!("{PREVIEWS_MAX} previews are open; close one first");
            return Err(ApiError::new(ErrorCode::RateLimited, sentence));
        }
        let opened = Arc::new(Opened { pod: pod.clone(), port, label, secret, codes: LoginCodes::default() });
        all.push(Arc::clone(&opened));
        Ok(opened)
    }

    pub(crate) fn of(&self, pod: &PodRef, port: u16) -> Option<Arc<Opened>> {
        self.all().iter().find(|opened| opened.is_of(pod, port)).cloned()
    }

    /// Those of a Pod, the oldest first.
    pub(crate) fn of_pod(&self, pod: &PodRef) -> Vec<Arc<Opened>> {
        self.all().iter().filter(|opened| opened.pod == *pod).cloned().collect()
    }

    /// False when it was not open.
    pub(crate) fn close(&self, pod: &PodRef, port: u16) -> bool {
        let mut all = self.all();
        let before = all.len();
        all.retain(|opened| !opened.is_of(pod, port));
        all.len() < before
    }

    fn labelled(&self, label: &str) -> Option<Arc<Opened>> {
        self.all().iter().find(|opened| opened.label == label).cloned()
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Opened>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Opened {
    fn is_of(&self, pod: &PodRef, port: u16) -> bool {
        self.pod == *pod && self.port == port
    }

    /// Where it is shown, for a console at this address: `http://NAME.localhost:PORT`.
    ///
    /// # Errors
    /// `invalid_input`: the console is not under a name of this machine, so no name beside it leads here.
    pub(crate) fn address(&self, console: &str) -> Result<String, ApiError> {
        let authority = console.strip_prefix("http://").unwrap_or_default();
        let (name, port) = authority.rsplit_once(':').map_or((authority, ""), |(name, port)| (name, port));
        if !name.ends_with(".localhost") {
            return Err(ApiError::invalid(
                "a preview needs a name of its own beside the console's; open the console under its NAME.localhost, from another \
                 machine through `ssh -L`",
            ));
        }
        let port = if port.is_empty() { String::new() } else { format!(":{port}") };
        Ok(format!("http://{}.localhost{port}", self.label))
    }

    /// The address with a code that lets one browser in.
    pub(crate) fn entry(&self, console: &str) -> Result<String, ApiError> {
        let (address, code) = (self.address(console)?, self.codes.issue()?);
        Ok(format!("{address}{}?code={code}", door::ENTER))
    }
}

fn random_hex() -> Result<String, ApiError> {
    let mut bytes = [0_u8; SECRET_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| ApiError::new(ErrorCode::Internal, format!("the system gave no random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
