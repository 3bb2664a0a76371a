//! Previews: opening, closing, and connecting through them.

use std::{collections::BTreeSet, sync::Arc};

use protocol::{ApiError, AuditAbout, ErrorCode, NetworkPolicy, PodRef, Preview, RuntimeId};
use runtime::Origin;
use tokio::net::UnixStream;

use super::Backend;
use crate::{Guest, OpenPreview};

/// Opens, closes and lists previews, and connects through them.
#[derive(Debug, Clone, Copy)]
pub struct Previews<'a> {
    pub(super) backend: &'a Backend,
}

impl Previews<'_> {
    /// The ports of a Pod's commands that can be shown or are shown, in ascending order. The API adds their addresses.
    ///
    /// # Errors
    /// `pod_not_found`.
    pub async fn list(self, pod: &PodRef) -> Result<Vec<Preview>, ApiError> {
        self.backend.pod(pod).await?;
        if pod.runtime_id != RuntimeId::local() {
            return Ok(Vec::new());
        }
        let listening = self.backend.host.work().listening_ports(&pod.worker_id).await?;
        let open: BTreeSet<u16> =
            self.backend.previews.all().iter().filter(|open| open.pod == *pod).map(|open| open.port).collect();
        let preview = |port: &u16| Preview {
            port: *port,
            is_open: open.contains(port),
            is_listening: listening.contains(port),
            url: None,
        };
        Ok(listening.union(&open).map(preview).collect())
    }

    /// Opens the preview of a port, unless it is open already. Nothing has to be listening yet.
    ///
    /// # Errors
    /// `pod_not_found`; `rate_limited`; `invalid_input` for an invalid port, for a Pod of another runtime, and for a
    /// Pod whose commands use the machine's own network.
    pub async fn open(self, origin: &Origin, pod: &PodRef, port: u16) -> Result<Arc<OpenPreview>, ApiError> {
        let done = self.open_checked(pod, port).await;
        self.audit(origin, "preview_open", pod, port, &done).await;
        done
    }

    async fn open_checked(self, pod: &PodRef, port: u16) -> Result<Arc<OpenPreview>, ApiError> {
        if port == 0 {
            return Err(ApiError::invalid("a port is a number from 1 to 65535"));
        }
        let detail = self.backend.pod(pod).await?;
        if pod.runtime_id != RuntimeId::local() {
            let sentence = format!("{pod} is in another runtime; open the preview in the console of that server");
            return Err(ApiError::invalid(sentence));
        }
        if detail.network == NetworkPolicy::Open {
            return Err(ApiError::invalid(
                "the Pod's commands have the machine's own network, so what they serve is at http://127.0.0.1:PORT already",
            ));
        }
        self.backend.previews.open(pod, port)
    }

    /// Closes a preview and every connection through it.
    ///
    /// # Errors
    /// `not_found`: it is not open.
    pub async fn close(self, origin: &Origin, pod: &PodRef, port: u16) -> Result<(), ApiError> {
        if self.backend.previews.close(|open| open.is_of(pod, port)) == 0 {
            return Err(preview_not_open(port));
        }
        self.audit(origin, "preview_close", pod, port, &Ok(())).await;
        Ok(())
    }

    /// # Errors
    /// `not_found`: it is not open.
    pub fn of(self, pod: &PodRef, port: u16) -> Result<Arc<OpenPreview>, ApiError> {
        self.backend.previews.find(|open| open.is_of(pod, port)).ok_or_else(|| preview_not_open(port))
    }

    /// The preview whose host name begins with this label.
    pub fn labelled(self, label: &str) -> Option<Arc<OpenPreview>> {
        self.backend.previews.find(|open| open.label == label)
    }

    /// Whether a browser that was let in may stay: its login is still valid.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn stays(self, open: &OpenPreview, guest: &Guest) -> Result<bool, ApiError> {
        let stays = match &guest.session {
            Some(session) => self.backend.sessions().is_open(session).await?,
            None => true,
        };
        if !stays {
            open.send_away(guest);
        }
        Ok(stays)
    }

    /// Returns when a browser's connections through a preview have to end: the preview is closed, or the browser's
    /// login has ended.
    pub async fn over(self, open: &OpenPreview, guest: &Guest) {
        let mut is_closed = open.is_closed.subscribe();
        let logged_out = async {
            match &guest.session {
                Some(session) => self.backend.sessions().ended(session).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = is_closed.wait_for(|is_closed| *is_closed) => (),
            () = logged_out => (),
        }
    }

    /// Connects to the port of the Pod's commands. `None` if no command serves it now.
    ///
    /// # Errors
    /// `pod_not_found`; the preview is then closed.
    pub async fn look_in(self, open: &OpenPreview) -> Result<Option<UnixStream>, ApiError> {
        let found = self.backend.host.work().look_in(&open.pod.worker_id, open.port).await;
        if found.as_ref().is_err_and(|error| error.code == ErrorCode::PodNotFound) {
            self.end(&open.pod);
        }
        found
    }

    /// Closes the previews of a deleted Pod.
    pub(super) fn end(self, pod: &PodRef) {
        self.backend.previews.close(|open| open.pod == *pod);
    }

    async fn audit<T>(self, origin: &Origin, action: &str, pod: &PodRef, port: u16, done: &Result<T, ApiError>) {
        let about = AuditAbout { subject: Some(format!("port {port}")), ..AuditAbout::default() };
        self.backend.audit().ended(origin, action, pod.to_string(), Some(about), done).await;
    }
}

fn preview_not_open(port: u16) -> ApiError {
    ApiError::new(ErrorCode::NotFound, format!("no preview of port {port} is open; POST …/previews opens one"))
}
