//! What a server offers beside tools, as it was listed.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use protocol::{McpPrompt, McpResource};

use crate::template::{Open, Template};

/// How many answers about values are remembered.
const VALUES_MAX: usize = 200;

/// The prompts and resources of one server, as one Pod sees them.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    /// With the server's own names.
    pub(crate) prompts: Vec<(String, McpPrompt)>,
    pub(crate) resources: Vec<McpResource>,
    /// With the address up to the first variable.
    pub(crate) templates: Vec<(Template, McpResource)>,
    /// Whether the server can be asked for the values of variables.
    pub(crate) completes: bool,
    /// What it has answered, by the template and the variable.
    values: Mutex<HashMap<(String, Open), Vec<String>>>,
}

impl Shelf {
    fn values(&self) -> MutexGuard<'_, HashMap<(String, Open), Vec<String>>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the values that the server has named for this variable.
    pub(crate) fn known(&self, template: &Template, open: &Open) -> Option<Vec<String>> {
        self.values().get(&(template.text.clone(), open.clone())).cloned()
    }

    pub(crate) fn keep(&self, template: &Template, open: &Open, named: Vec<String>) {
        let mut values = self.values();
        if values.len() < VALUES_MAX {
            values.insert((template.text.clone(), open.clone()), named);
        }
    }
}
