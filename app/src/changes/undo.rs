//! The newest revert, which can be undone. Kept in this browser, so that a reload or a closed page does not lose it.

use leptos::prelude::*;
use protocol::UndoCommand;

use crate::{codec, live, live::Memory};

/// The newest revert of one Pod.
#[derive(Debug, Clone, Copy)]
pub(super) struct Undo {
    name: Memo<String>,
    command: RwSignal<Option<UndoCommand>>,
}

impl Undo {
    pub(super) fn of(address: Memo<String>) -> Self {
        let name = Memo::new(move |_| address.with(|address| format!("undo:{address}")));
        let undo = Self { name, command: RwSignal::default() };
        // After hydration, because the server does not know it.
        Effect::new(move |_| {
            let kept = undo.name.with(|name| live::kept(Memory::Local, name));
            undo.command.set(kept.and_then(|kept| codec::read(&kept).ok()));
        });
        undo
    }

    /// The path of the file that would come back.
    pub(super) fn path(self) -> Option<String> {
        self.command.with(|command| command.as_ref().map(|command| command.path.clone()))
    }

    pub(super) fn put(self, command: UndoCommand) {
        let json = serde_json::to_string(&command).ok();
        self.keep(json.as_deref());
        self.command.try_set(Some(command));
    }

    pub(super) fn take(self) -> Option<UndoCommand> {
        self.keep(None);
        self.command.try_update(Option::take).flatten()
    }

    fn keep(self, json: Option<&str>) {
        self.name.try_with_untracked(|name| live::remember(Memory::Local, name, json));
    }
}
