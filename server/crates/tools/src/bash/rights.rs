//! Drops every privilege of a process that is about to become a command.

use std::io;

use rustix::{
    io::Errno,
    thread::{
        CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
        remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits, set_no_new_privs,
    },
};

/// Capabilities that a kernel may know; unknown ones are refused by it.
const CAPABILITIES_MAX: u32 = 64;

/// Leaves no capability in any set, keeps any from coming back when a program is started, whoever owns it, and keeps
/// programs from raising their privileges.
pub(super) fn drop_all() -> io::Result<()> {
    let had = capabilities(None)?;
    if had.effective.contains(CapabilitySet::SETPCAP) {
        let all = (0..CAPABILITIES_MAX).map(|number| CapabilitySet::from_bits_retain(1 << number));
        // The kernel knows none of those after the first unknown one.
        for capability in all {
            if remove_capability_from_bounding_set(capability) == Err(Errno::INVAL) {
                break;
            }
        }
        let none_of_root = CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
        set_capabilities_secure_bits(none_of_root)?;
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(set_no_new_privs(true)?)
}

/// Without a sandbox, keeps only those of root's capabilities that file access and ownership need: with the others,
/// root could read the memory of unconfined processes, load modules, or open disks, bypassing every rule. What is
/// dropped here does not come back when a program is started.
pub(super) fn lower() -> io::Result<()> {
    let kept = CapabilitySet::CHOWN
        | CapabilitySet::DAC_OVERRIDE
        | CapabilitySet::FOWNER
        | CapabilitySet::FSETID
        | CapabilitySet::SETUID
        | CapabilitySet::SETGID
        | CapabilitySet::NET_BIND_SERVICE;
    let had = capabilities(None)?;
    let sets = CapabilitySets {
        effective: had.effective & kept,
        permitted: had.permitted & kept,
        inheritable: had.inheritable & kept,
    };
    Ok(set_capabilities(None, sets)?)
}
