//! What this server calls other stores.

use std::collections::BTreeMap;

use protocol::RuntimeId;

use crate::peers::Peers;

/// The names of other stores, by store id.
pub type FarNames = BTreeMap<String, FarName>;

/// Another store as it is known in this server's registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FarName {
    pub runtime_id: RuntimeId,
    /// It answers now.
    pub reachable: bool,
}

/// How many characters of the id are used to name a store that has no name here.
const NAMELESS_CHARS: usize = 8;

impl Peers {
    /// What a store is called here. A store that is not in the registry is named after its id.
    pub(crate) fn far_runtime(&self, store: &str) -> RuntimeId {
        match self.far.names.borrow().get(store) {
            Some(name) => name.runtime_id.clone(),
            None => nameless(store),
        }
    }

    /// True if the registry has the store.
    pub(super) fn far_is_known(&self, store: &str) -> bool {
        self.far.names.borrow().contains_key(store)
    }

    pub(super) fn far_is_reachable(&self, store: &str) -> bool {
        self.far.names.borrow().get(store).is_some_and(|name| name.reachable)
    }
}

fn nameless(store: &str) -> RuntimeId {
    let fits = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let id: String = store.bytes().filter(fits).take(NAMELESS_CHARS).map(char::from).collect();
    RuntimeId::parse(&format!("store-{id}")).expect("lower case letters, digits and hyphens are a runtime id")
}
