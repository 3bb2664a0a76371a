//! The states of a person's commands.

use std::collections::HashMap;

use crate::{
    BlockKind, PersonState,
    rows::{Key, Rows},
};

/// By command id.
#[derive(Debug, Clone, Default)]
pub(super) struct Commands(HashMap<String, Command>);

#[derive(Debug, Clone, Copy, Default)]
struct Command {
    person: Option<Key>,
    state: PersonState,
}

impl Commands {
    /// The command's message is in this block.
    pub(super) fn said(&mut self, rows: &mut Rows, command_id: &str, person: Key, state: PersonState) {
        self.0.entry(command_id.to_owned()).or_default().person = Some(person);
        self.reaches(rows, command_id, state);
    }

    /// A command's state never goes back, so the order of its records does not matter.
    pub(super) fn reaches(&mut self, rows: &mut Rows, command_id: &str, reached: PersonState) {
        let command = self.0.entry(command_id.to_owned()).or_default();
        command.state = command.state.max(reached);
        let (person, now) = (command.person, command.state);
        let is_older = |kind: &BlockKind| !matches!(kind, BlockKind::Person { state, .. } if *state == now);
        if let Some(BlockKind::Person { state, .. }) =
            person.and_then(|key| rows.edit_if(key, |block| is_older(&block.kind)))
        {
            *state = now;
        }
    }

    pub(super) fn join(&mut self, rows: &mut Rows, older: Self) {
        for (command_id, before) in older.0 {
            let command = self.0.entry(command_id.clone()).or_default();
            command.person = command.person.or(before.person);
            self.reaches(rows, &command_id, before.state);
        }
    }

    pub(super) fn shift(&mut self, base: usize) {
        self.0.values_mut().flat_map(|command| &mut command.person).for_each(|key| key.shift(base));
    }
}
