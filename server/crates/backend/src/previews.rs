//! Previews: ports of a Pod's commands, each shown to a person on an origin of its own.
//!
//! The origin is `p-LABEL.localhost`, another site than the console's. Whoever wants in needs a code, which the console gives, and then
//! has a cookie of that host alone, which is good as long as the login is that the code was given to.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use protocol::{ApiError, AuditAbout, ErrorCode, NetworkPolicy, PodRef, Preview, RuntimeId};
use runtime::Origin;
use subtle::ConstantTimeEq;
use tokio::{
    net::UnixStream,
    sync::{OwnedSemaphorePermit, Semaphore, watch},
};

use crate::{Backend, Session, codes::Codes, random::random_hex};

/// Open at once; one more is refused.
const PREVIEWS_MAX: usize = 64;
/// Of a label and of a cookie, in bytes.
const SECRET_BYTES: usize = 16;
/// Browsers that are let in to one; the one that came first has to come in again.
const GUESTS_MAX: usize = 32;
/// Requests to one that are answered at once.
const REQUESTS_MAX: usize = 256;
/// Where a code is taken.
pub const PREVIEW_ENTER: &str = "/.yoi/enter";

/// Those that are open now. They end with the server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Previews(Arc<Mutex<Vec<Arc<OpenPreview>>>>);

/// One of them.
#[derive(Debug)]
pub struct OpenPreview {
    pod: PodRef,
    port: u16,
    /// Of its host: `p-` and hex digits.
    label: String,
    codes: Codes<Option<Session>>,
    guests: Mutex<Vec<Guest>>,
    requests: Arc<Semaphore>,
    is_closed: watch::Sender<bool>,
}

/// A browser that was let in.
#[derive(Debug, Clone)]
pub struct Guest {
    /// What its cookie holds.
    secret: String,
    /// The login that it came by; none when it came by a token.
    session: Option<Session>,
}

impl Previews {
    fn open(&self, pod: &PodRef, port: u16) -> Result<Arc<OpenPreview>, ApiError> {
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

    fn find(&self, is_meant: impl Fn(&OpenPreview) -> bool) -> Option<Arc<OpenPreview>> {
        self.all().iter().find(|open| is_meant(open)).cloned()
    }

    /// Closes those that are meant, and ends what is open through them. How many there were.
    fn close(&self, is_meant: impl Fn(&OpenPreview) -> bool) -> usize {
        let closed: Vec<_> = self.all().extract_if(.., |open| is_meant(open)).collect();
        for open in &closed {
            open.is_closed.send_replace(true);
        }
        closed.len()
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<OpenPreview>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenPreview {
    pub fn port(&self) -> u16 {
        self.port
    }

    fn is_of(&self, pod: &PodRef, port: u16) -> bool {
        self.pod == *pod && self.port == port
    }

    /// Where it is shown, for a console at this address: `http://p-LABEL.localhost:PORT`.
    ///
    /// # Errors
    /// `invalid_input`: the console is not under a name of this machine, so no name beside it leads here.
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
    /// As [`OpenPreview::address`].
    pub fn entry(&self, console: &str, session: Option<Session>) -> Result<String, ApiError> {
        let (address, code) = (self.address(console)?, self.codes.issue(session)?);
        Ok(format!("{address}{PREVIEW_ENTER}?code={code}"))
    }

    /// Lets a browser in that has a good code: what its cookie is to hold.
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

    /// Whose cookie this is.
    pub fn guest(&self, secret: &[u8]) -> Option<Guest> {
        self.guests().iter().find(|guest| bool::from(guest.secret.as_bytes().ct_eq(secret))).cloned()
    }

    /// A place for one request; none while too many are answered.
    pub fn admit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.requests).try_acquire_owned().ok()
    }

    fn send_away(&self, gone: &Guest) {
        self.guests().retain(|guest| guest.secret != gone.secret);
    }

    fn guests(&self) -> MutexGuard<'_, Vec<Guest>> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend {
    /// The ports of a Pod's commands that can be shown, and those that are, the lowest first. Their addresses are the API's to tell.
    ///
    /// # Errors
    /// `pod_not_found`.
    pub async fn previews(&self, pod: &PodRef) -> Result<Vec<Preview>, ApiError> {
        self.pod(pod).await?;
        if pod.runtime_id != RuntimeId::local() {
            return Ok(Vec::new());
        }
        let listening = self.host.listening_ports(&pod.worker_id).await?;
        let open: BTreeSet<u16> =
            self.previews.all().iter().filter(|open| open.pod == *pod).map(|open| open.port).collect();
        let preview = |port: &u16| Preview {
            port: *port,
            is_open: open.contains(port),
            is_listening: listening.contains(port),
            url: None,
        };
        Ok(listening.union(&open).map(preview).collect())
    }

    /// Opens the preview of a port, unless it is open already. What listens there need not be there yet.
    ///
    /// # Errors
    /// `pod_not_found`; `rate_limited`; `invalid_input` for what is no port, for a Pod of another runtime, and for one whose commands
    /// have the machine's own network.
    pub async fn preview_open(&self, origin: &Origin, pod: &PodRef, port: u16) -> Result<Arc<OpenPreview>, ApiError> {
        let done = self.preview_open_checked(pod, port).await;
        self.preview_audit(origin, "preview_open", pod, port, done.as_ref().err()).await;
        done
    }

    async fn preview_open_checked(&self, pod: &PodRef, port: u16) -> Result<Arc<OpenPreview>, ApiError> {
        if port == 0 {
            return Err(ApiError::invalid("a port is a number from 1 to 65535"));
        }
        let detail = self.pod(pod).await?;
        if pod.runtime_id != RuntimeId::local() {
            let sentence = format!("{pod} is in another runtime; open the preview in the console of that server");
            return Err(ApiError::invalid(sentence));
        }
        if detail.network == NetworkPolicy::Open {
            return Err(ApiError::invalid(
                "the Pod's commands have the machine's own network, so what they serve is at http://127.0.0.1:PORT already",
            ));
        }
        self.previews.open(pod, port)
    }

    /// Closes a preview, and ends what is open through it.
    ///
    /// # Errors
    /// `not_found`: it is not open.
    pub async fn preview_close(&self, origin: &Origin, pod: &PodRef, port: u16) -> Result<(), ApiError> {
        if self.previews.close(|open| open.is_of(pod, port)) == 0 {
            return Err(preview_not_open(port));
        }
        self.preview_audit(origin, "preview_close", pod, port, None).await;
        Ok(())
    }

    /// # Errors
    /// `not_found`: it is not open.
    pub fn preview_of(&self, pod: &PodRef, port: u16) -> Result<Arc<OpenPreview>, ApiError> {
        self.previews.find(|open| open.is_of(pod, port)).ok_or_else(|| preview_not_open(port))
    }

    /// The preview whose host begins with this label.
    pub fn preview_labelled(&self, label: &str) -> Option<Arc<OpenPreview>> {
        self.previews.find(|open| open.label == label)
    }

    /// Whether a browser that was let in may stay: its login is still good.
    ///
    /// # Errors
    /// The database cannot be asked.
    pub async fn preview_stays(&self, open: &OpenPreview, guest: &Guest) -> Result<bool, ApiError> {
        let stays = match &guest.session {
            Some(session) => self.session_is_open(session).await?,
            None => true,
        };
        if !stays {
            open.send_away(guest);
        }
        Ok(stays)
    }

    /// Returns once what a browser has open through a preview is to end: it is closed, or the browser's login is over.
    pub async fn preview_over(&self, open: &OpenPreview, guest: &Guest) {
        let mut is_closed = open.is_closed.subscribe();
        let logged_out = async {
            match &guest.session {
                Some(session) => self.session_ended(session).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = is_closed.wait_for(|is_closed| *is_closed) => (),
            () = logged_out => (),
        }
    }

    /// A connection to the port of the Pod's commands. None: no command serves it now.
    ///
    /// # Errors
    /// `pod_not_found`; the preview is closed with it.
    pub async fn look_in(&self, open: &OpenPreview) -> Result<Option<UnixStream>, ApiError> {
        let found = self.host.look_in(&open.pod.worker_id, open.port).await;
        if found.as_ref().is_err_and(|error| error.code == ErrorCode::PodNotFound) {
            self.previews_end(&open.pod);
        }
        found
    }

    /// Ends the previews of a Pod that is no more.
    pub(crate) fn previews_end(&self, pod: &PodRef) {
        self.previews.close(|open| open.pod == *pod);
    }

    async fn preview_audit(&self, origin: &Origin, action: &str, pod: &PodRef, port: u16, error: Option<&ApiError>) {
        let about = AuditAbout { subject: Some(format!("port {port}")), ..AuditAbout::default() };
        let (result, code) = match error {
            None => ("done", None),
            Some(error) if error.code.status() >= 500 => ("failed", Some(error.code)),
            Some(error) => ("refused", Some(error.code)),
        };
        self.append_audit(crate::AuditEntry {
            about: Some(about),
            ..crate::audit_entry(origin, action, Some(pod.to_string()), result, code)
        })
        .await;
    }
}

fn preview_not_open(port: u16) -> ApiError {
    ApiError::new(ErrorCode::NotFound, format!("no preview of port {port} is open; POST …/previews opens one"))
}

#[cfg(test)]
mod tests {
    use protocol::{PodRef, WorkerId};

    use super::*;

    #[test]
    fn one_port_has_one_preview_and_those_of_a_pod_end_with_it() {
        let previews = Previews::default();
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
            Previews::default().open(&PodRef::new(RuntimeId::local(), WorkerId::parse("a").unwrap()), 1).unwrap();
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
