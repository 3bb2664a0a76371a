//! The walls around commands on this machine. Finding them out takes a moment, during which the host already starts.

use protocol::{Wall, WallItem, WallState};
use tokio::sync::watch;

/// The walls, known now or soon.
#[derive(Debug, Clone)]
pub struct Walls(watch::Receiver<Option<Vec<WallItem>>>);

impl Walls {
    /// Walls that are still being found out; the sender is given the result once.
    pub fn soon() -> (watch::Sender<Option<Vec<WallItem>>>, Self) {
        let (sender, receiver) = watch::channel(None);
        (sender, Self(receiver))
    }

    /// As on a machine that has all of them.
    pub(crate) fn standing() -> Self {
        let item = WallItem { wall: Wall::Namespaces, state: WallState::On, detail: None };
        let (sender, walls) = Self::soon();
        sender.send_replace(Some(vec![item]));
        walls
    }

    pub(crate) async fn items(&self) -> Vec<WallItem> {
        let mut receiver = self.0.clone();
        // If the sender is gone without a result, no walls are assumed.
        let found = receiver.wait_for(Option::is_some).await;
        found.ok().and_then(|items| items.clone()).unwrap_or_default()
    }

    /// Whether commands run in a sandbox.
    pub(crate) async fn hold_commands(&self) -> bool {
        let is_room = |item: &WallItem| item.wall == Wall::Namespaces && item.state == WallState::On;
        self.items().await.iter().any(is_room)
    }
}
