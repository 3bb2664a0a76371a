//! Asks another server which one it is: when it is added, and each time the socket has been reconnected.

use client::{Client, ClientError};
use protocol::{About, ApiError, ErrorCode, PROTOCOL_VERSION, RuntimeId, operations::WhoAreYou};

use super::Remote;

/// The result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// A compatible yoi, on this store.
    Yoi { store_id: String },
    /// It does not answer now.
    Away(&'static str),
    /// It refuses the token.
    Unauthorized,
    /// It answers, but not as a compatible yoi.
    Other(String),
}

/// Takes at most 5 s.
pub(super) async fn look(client: &Client) -> Seen {
    match client.read(&WhoAreYou {}).await {
        Ok(about) => of_yoi(about),
        Err(ClientError::Api(error)) => match error.code {
            ErrorCode::Unauthorized => Seen::Unauthorized,
            ErrorCode::ForbiddenHost => {
                Seen::Other("it does not answer under this name; start it with --allow-host and the name".to_owned())
            }
            ErrorCode::NotFound => Seen::Other("it is an older yoi; update it".to_owned()),
            code if code.status() >= 500 => Seen::Away("it answers, and that it cannot now"),
            code => Seen::Other(format!("it answers {code}")),
        },
        Err(ClientError::NoServer { .. }) => Seen::Away("it does not take the connection"),
        // A proxy in front of a server that is away answers with such a status.
        Err(ClientError::Protocol { cause, .. }) if cause.starts_with("status 5") => {
            Seen::Away("what stands before it says that it is away")
        }
        Err(ClientError::Protocol { cause, .. }) if cause.starts_with("status 3") => Seen::Other(
            "it sends us elsewhere, and the token goes nowhere else; add the address that is meant".to_owned(),
        ),
        Err(ClientError::Protocol { .. } | ClientError::Invalid(_)) => Seen::Other("what answers is no yoi".to_owned()),
    }
}

fn of_yoi(about: About) -> Seen {
    match about.protocol {
        PROTOCOL_VERSION => Seen::Yoi { store_id: about.store_id },
        theirs => Seen::Other(format!(
            "it speaks version {theirs} of the protocol and this one {PROTOCOL_VERSION}; update the older one"
        )),
    }
}

impl Remote {
    /// Whether a server may be added: its store, or `None` if it cannot be reached now.
    pub(crate) async fn look(client: &Client, runtime_id: &RuntimeId) -> Result<Option<String>, ApiError> {
        match look(client).await {
            Seen::Yoi { store_id } => Ok(Some(store_id)),
            Seen::Away(_) => Ok(None),
            Seen::Unauthorized => Err(ApiError::invalid(format!(
                "\"{runtime_id}\" is not added: the server there refuses this token; `yoi token` on its machine prints the \
                 right one"
            ))),
            Seen::Other(why) => Err(ApiError::invalid(format!("\"{runtime_id}\" is not added: {why}"))),
        }
    }
}
