//! The ways in which an older Pod may misbehave.

use std::time::Duration;

use tokio::{io::AsyncWriteExt, net::unix::OwnedWriteHalf, time::sleep};

/// The misbehaviour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// Closes the connection before the snapshot.
    EndBeforeSnapshot,
    /// Never sends a snapshot.
    NoSnapshot,
    /// Starts its snapshot and stops in the middle.
    HalfLine,
    /// Its first line never ends.
    EndlessLine,
    /// Its first line is not JSON.
    NotJson,
    /// Sends alerts without end.
    EndlessAlerts,
    /// Answers nothing after the snapshot.
    Mute,
    /// After the snapshot, sends events without end as fast as it can.
    Flood,
}

impl Trouble {
    pub(super) fn sends_prelude(&self) -> bool {
        matches!(self, Self::Mute)
    }

    pub(super) fn is_mute(&self) -> bool {
        *self == Self::Mute
    }

    /// Misbehaves on a new connection; returns false if the connection is then over.
    pub(super) async fn begin(&self, writer: &mut OwnedWriteHalf, prelude: &str) -> bool {
        match self {
            Self::Mute => return true,
            Self::EndBeforeSnapshot => (),
            Self::NoSnapshot => sleep(Duration::from_secs(3_600)).await,
            Self::HalfLine => {
                let half = prelude.len() / 2;
                writer.write_all(&prelude.as_bytes()[..half]).await.ok();
                sleep(Duration::from_secs(3_600)).await;
            }
            Self::EndlessLine => endless(writer, &"x".repeat(1024 * 1024)).await,
            Self::NotJson => {
                writer.write_all(b"HTTP/1.1 400 Bad Request\r\n").await.ok();
            }
            Self::EndlessAlerts => {
                let alert = "{\"event\":\"alert\",\"data\":{\"level\":\"warn\",\"source\":\"x\",\"message\":\"y\"}}\n";
                endless(writer, &alert.repeat(1_000)).await;
            }
            Self::Flood => {
                writer.write_all(prelude.as_bytes()).await.ok();
                let delta = "{\"event\":\"text_delta\",\"data\":{\"text\":\"flood \"}}\n";
                endless(writer, &delta.repeat(1_000)).await;
            }
        }
        false
    }
}

async fn endless(writer: &mut OwnedWriteHalf, text: &str) {
    while writer.write_all(text.as_bytes()).await.is_ok() {}
}
