//! Open previews: ports of a Pod's commands, each shown to a person on an origin of its own.
//!
//! The origin is `p-LABEL.localhost`, a different site from the console. A browser gets in with a code from the console
//! and then has a cookie for that host only, which is valid as long as the login for which the code was issued.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::{ApiError, ErrorCode, PodRef};
use subtle::ConstantTimeEq;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::{Session, codes::Codes, random::random_hex};

/// The most previews open at once; further ones are refused.
const PREVIEWS_MAX: usize = 64;
/// The length of a label and of a cookie, in bytes.
const SECRET_BYTES: usize = 16;
/// The most browsers in one preview; a new one displaces the oldest, which has to enter again.
const GUESTS_MAX: usize = 32;
/// The most requests through one preview that are answered at once.
const REQUESTS_MAX: usize = 256;
/// The path at which a code is redeemed.
pub const PREVIEW_ENTER: &str = "/.yoi/enter";

/// The open previews. They end with the server.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenPreviews(Arc<Mutex<Vec<Arc<OpenPreview>>>>);

/// One open preview.
#[derive(Debug)]
pub struct OpenPreview {
    pub(crate) pod: PodRef,
    pub(crate) port: u16,
    /// The first label of its host name: `p-` and hex digits.
    pub(crate) label: String,
    codes: Codes<Option<Session>>,
    guests: Mutex<Vec<Guest>>,
    requests: Arc<Semaphore>,
    pub(crate) is_closed: watch::Sender<bool>,
}

/// A browser that was let in.
#[derive(Debug, Clone)]
pub struct Guest {
    /// The value of its cookie.
    secret: String,
    /// The login that it came with; `None` if it came with a token.
    pub(crate) session: Option<Session>,
}

impl OpenPreviews {
    pub(crate) fn open(&self, pod: &PodRef, port: u16) -> Result<Arc<OpenPreview>, ApiError> {
        let label = format!("p-{}", random_hex::<SECRET_BYTES>()?);
        let mut all = self.all();
        if let Some(open) = all.iter().find(|open| open.is_of(pod, port)) {
            return Ok(Arc::clone(open));
        }
        if all.len() >= PREVIEWS_MAX {
            let sentence = format!("{PREVIEWS_MAX} previews are open; close one first");
            return Err(ApiError::new(ErrorCode::RateLimited, sentence));
        }
        let open = Arc::new(OpenPreview {
            pod: pod.clone(),
            port,
            label,
            codes: Codes::default(),
            guests: Mutex::default(),
            requests: Arc::new(Semaphore::new(REQUESTS_MAX)),
            is_closed: watch::Sender::new(false),
        });
        all.push(Arc::clone(&open));
        Ok(open)
    }

    pub(crate) fn find(&self, is_meant: impl Fn(&OpenPreview) -> bool) -> Option<Arc<OpenPreview>> {
        self.all().iter().find(|open| is_meant(open)).cloned()
    }

    /// Closes the matching previews and every connection through them. Returns how many there were.
    pub(crate) fn close(&self, is_meant: impl Fn(&OpenPreview) -> bool) -> usize {
        let closed: Vec<_> = self.all().extract_if(.., |open| is_meant(open)).collect();
        for open in &closed {
            open.is_closed.send_replace(true);
        }
        closed.len()
    }

    pub(crate) fn all(&self) -> MutexGuard<'_, Vec<Arc<OpenPreview>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenPreview {
    pub fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn is_of(&self, pod: &PodRef, port: u16) -> bool {
        self.pod == *pod && self.port == port
    }

    /// The preview's address for a console at this address: `http://p-LABEL.localhost:PORT`.
    ///
    /// # Errors
    /// `invalid_input`: the console is not at a `localhost` name, so no name beside it leads to this machine.
    pub fn address(&self, console: &str) -> Result<String, ApiError> {
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

    /// The address with a code that lets one browser in, for as long as this login lasts.
    ///
    /// # Errors
    /// Same as [`OpenPreview::address`].
    pub fn entry(&self, console: &str, session: Option<Session>) -> Result<String, ApiError> {
        let (address, code) = (self.address(console)?, self.codes.issue(session)?);
        Ok(format!("{address}{PREVIEW_ENTER}?code={code}"))
    }

    /// Lets a browser with a valid code in. Returns the value for its cookie.
    ///
    /// # Errors
    /// `internal`: the system gives no random numbers.
    pub fn let_in(&self, code: &str) -> Result<Option<String>, ApiError> {
        let secret = random_hex::<SECRET_BYTES>()?;
        let Some(session) = self.codes.redeem(code) else { return Ok(None) };
        let mut guests = self.guests();
        if guests.len() >= GUESTS_MAX {
            guests.remove(0);
        }
        guests.push(Guest { secret: secret.clone(), session });
        Ok(Some(secret))
    }

    /// The guest with this cookie.
    pub fn guest(&self, secret: &[u8]) -> Option<Guest> {
        self.guests().iter().find(|guest| bool::from(guest.secret.as_bytes().ct_eq(secret))).cloned()
    }

    /// A permit for one request; `None` while too many are being answered.
    pub fn admit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.requests).try_acquire_owned().ok()
    }

    pub(crate) fn send_away(&self, gone: &Guest) {
        self.guests().retain(|guest| guest.secret != gone.secret);
    }

    fn guests(&self) -> MutexGuard<'_, Vec<Guest>> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use protocol::{PodRef, RuntimeId, WorkerId};

    use super::*;

    #[test]
    fn one_port_has_one_preview_and_those_of_a_pod_end_with_it() {
        let previews = OpenPreviews::default();
        let pod = |id: &str| PodRef::new(RuntimeId::local(), WorkerId::parse(id).unwrap());
        let one = previews.open(&pod("a"), 5173).unwrap();
        assert_eq!(previews.open(&pod("a"), 5173).unwrap().label, one.label);
        for port in 1..PREVIEWS_MAX as u16 {
            previews.open(&pod("b"), port).unwrap();
        }
        assert_eq!(previews.open(&pod("c"), 1).unwrap_err().code, ErrorCode::RateLimited);
        assert_eq!(previews.close(|open| open.pod == pod("b")), PREVIEWS_MAX - 1);
        previews.open(&pod("c"), 1).unwrap();
        assert!(!*one.is_closed.borrow());
        assert_eq!(previews.close(|open| open.is_of(&pod("a"), 5173)), 1);
        assert!(*one.is_closed.borrow());
    }

    #[test]
    fn a_browser_is_let_in_by_a_code_and_known_by_its_cookie() {
        let open =
            OpenPreviews::default().open(&PodRef::new(RuntimeId::local(), WorkerId::parse("a").unwrap()), 1).unwrap();
        let entry = open.entry("http://yoi-q3k7.localhost:7474", None).unwrap();
        let (address, code) = entry.split_once("/.yoi/enter?code=").unwrap();
        assert_eq!(address, format!("http://{}.localhost:7474", open.label));
        assert!(open.entry("http://192.168.0.2:7474", None).is_err());
        let secret = open.let_in(code).unwrap().unwrap();
        assert_eq!(open.let_in(code).unwrap(), None);
        assert!(open.guest(secret.as_bytes()).is_some() && open.guest(b"").is_none());
        for _ in 0..GUESTS_MAX {
            let entry = open.entry("http://yoi-q3k7.localhost:7474", None).unwrap();
            open.let_in(entry.split_once("?code=").unwrap().1).unwrap().unwrap();
        }
        assert!(open.guest(secret.as_bytes()).is_none());
    }
}
