//! What stands around commands on this machine. Finding out takes a moment, in which the host starts already.

use protocol::{Wall, WallItem, WallState};
use tokio::sync::watch;

/// The walls, now or soon.
#[derive(Debug, Clone)]
pub struct Walls(watch::Receiver<Option<Vec<WallItem>>>);

impl Walls {
    /// Found out meanwhile: the sender is told once.
    pub fn soon() -> (watch::Sender<Option<Vec<WallItem>>>, Self) {
        let (sender, receiver) = watch::channel(None);
        (sender, Self(receiver))
    }

    /// As on a machine where all of them stand.
    pub(crate) fn standing() -> Self {
        let item = WallItem { wall: Wall::Namespaces, state: WallState::On, detail: None };
        let (sender, walls) = Self::soon();
        sender.send_replace(Some(vec![item]));
        walls
    }

    pub(crate) async fn items(&self) -> Vec<WallItem> {
        let mut receiver = self.0.clone();
        // Whoever was to find out is gone: then none stands.
        let found = receiver.wait_for(Option::is_some).await;
        found.ok().and_then(|items| items.clone()).unwrap_or_default()
    }

    /// Whether a command is in a room of its own.
    pub(crate) async fn hold_commands(&self) -> bool {
        let is_room = |item: &WallItem| item.wall == Wall::Namespaces && item.state == WallState::On;
        self.items().await.iter().any(is_room)
    }
}
