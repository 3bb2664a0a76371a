//! Ids for older Pods, which have only names.

use protocol::{CommandId, PeerLabel, PodName, PodRef, RuntimeId, WorkerId};
use sha2::{Digest, Sha256};

/// The id of the older Pods' runtime.
pub(crate) const RUNTIME: &str = "compat";

pub(crate) fn runtime_id() -> RuntimeId {
    RuntimeId::parse(RUNTIME).expect("the name of the runtime is valid")
}

/// The id of a Pod with this name, a UUID derived from a hash of the name: the same in every process.
pub(crate) fn worker_id(name: &PodName) -> WorkerId {
    let digest = Sha256::new_with_prefix(b"yoi compat pod").chain_update(name.as_str()).finalize();
    let bytes: [u8; 16] = digest[..16].try_into().expect("a digest is longer");
    uuid::Builder::from_custom_bytes(bytes).into_uuid().into()
}

pub(crate) fn pod_ref(name: &PodName) -> PodRef {
    PodRef::new(runtime_id(), worker_id(name))
}

/// The label of a peer in records.
pub(crate) fn peer_label(name: &PodName) -> PeerLabel {
    PeerLabel { runtime_id: runtime_id(), worker_id: worker_id(name), name: name.clone() }
}

/// An id for another client's command.
pub(crate) fn foreign_command(label: &str, number: u64) -> CommandId {
    CommandId::parse(&format!("older-{label}-{number}")).expect("hex digits and numbers are visible ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_id_for_ever() {
        let name = |text| PodName::parse(text).unwrap();
        assert_eq!(worker_id(&name("ada")).as_str(), "a2e42d2c-3fa7-8930-8417-56affd147e92");
        assert_ne!(worker_id(&name("ada")), worker_id(&name("Ada")));
    }
}
