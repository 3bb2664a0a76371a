//! Confines a process and everything that it starts to a scope, using the kernel's Landlock.
//!
//! Landlock binds the calling thread and cannot be undone, so only the helper may call this.
//!
//! It does not restrict network connections nor, before Linux 7.1, connections to named Unix sockets. Whether a path
//! exists, its size and its times can always be queried. Besides the scope, a command can read the system's own folders
//! and the user's tool chains (see `system`), unless a rule of the scope denies them.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, RestrictSelf, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope as Shared,
};
use pod::Scope;
use protocol::{Access, ScopeRule};
use rustix::fd::OwnedFd;

use super::{
    carve::{Carver, Node, denials, open},
    order::Order,
    room::plan::DEVICES,
    system::System,
};

/// The oldest version that can prevent all changes to files: before it, a file could be truncated by path.
const OLDEST: ABI = ABI::V3;
/// The newest version known here; features that the kernel lacks are left out.
const NEWEST: ABI = ABI::V9;
/// The kernel's own file systems. In a sandbox they show its own processes and next to nothing of the machine.
const KERNEL: [&str; 2] = ["/proc", "/sys"];
/// Writable for every command in a sandbox.
const SHARED_MEMORY: &str = "/dev/shm";

/// The version of Landlock that is used, or half a sentence that says why there is none.
pub(super) fn version() -> Result<i32, &'static str> {
    // With nothing to restrict, this only queries the version.
    let status = RestrictSelf::default().no_new_privs(false).apply().map(|status| status.landlock);
    match status {
        Ok(LandlockStatus::Available { effective_abi, .. }) if effective_abi >= OLDEST => Ok(effective_abi as i32),
        Ok(LandlockStatus::Available { .. }) => Err("its Landlock is older than that of Linux 6.2"),
        Ok(LandlockStatus::NotEnabled) => Err("Landlock is switched off in its kernel"),
        Ok(LandlockStatus::NotImplemented) => Err("its kernel has no Landlock"),
        Err(_) => Err("its kernel did not say whether it has Landlock"),
    }
}

/// What is allowed beneath a rule that grants reading.
fn reading() -> BitFlags<AccessFs> {
    AccessFs::from_read(NEWEST)
}

/// What is allowed beneath a rule that grants writing. Creating device files is not: a device leads out of every scope.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
}

/// What is allowed beneath a rule that is shared with others: plain files and folders only.
fn sharing() -> BitFlags<AccessFs> {
    writing() & !(AccessFs::MakeSym | AccessFs::MakeFifo | AccessFs::MakeSock)
}

/// Confines the calling thread permanently. The error says what could not be done; then nothing may be run.
pub(super) fn restrict(order: &Order, system: &System, temp: &Path, in_room: bool) -> Result<(), String> {
    let scope = &Scope::new(order.rules.iter().cloned(), order.lent.iter().cloned());
    let failed = |error: &dyn std::fmt::Display| format!("the kernel refused the rules: {error}");
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST))
        .map_err(|error| failed(&error))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|ruleset| ruleset.scope(Shared::from_all(NEWEST)))
        .and_then(Ruleset::create)
        .map_err(|error| failed(&error))?;
    let mut grants = Grants { ruleset: Some(ruleset) };
    grants.add_scope(scope, writing())?;
    let denied = order.rules.iter().filter(|rule| rule.access == Access::Deny);
    let shared = Scope::new(order.shared.iter().chain(denied).cloned(), order.lent.iter().cloned());
    grants.add_scope(&shared, sharing())?;
    grants.add_system(scope, system)?;
    grants.add_path(temp, writing())?;
    if in_room {
        grants.add_path(Path::new(SHARED_MEMORY), writing())?;
    }
    for device in DEVICES {
        grants.add_path(Path::new(device), AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev)?;
    }
    let status = grants.ruleset.ok_or("the rules were lost")?.restrict_self().map_err(|error| failed(&error))?;
    match status.ruleset {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced if status.no_new_privs => Ok(()),
        _ => Err("the kernel took the rules and does not enforce them".to_owned()),
    }
}

/// The Landlock rules as they are collected.
struct Grants {
    /// Adding a rule consumes the set and returns it.
    ruleset: Option<RulesetCreated>,
}

impl Grants {
    /// Grants what the scope grants, minus its denials and loans.
    fn add_scope(&mut self, scope: &Scope, write: BitFlags<AccessFs>) -> Result<(), String> {
        let denied = denials(scope);
        let kept = denied.iter().chain(scope.lent()).cloned().collect::<Vec<_>>();
        for rule in scope.rules() {
            if rule.access != Access::Deny {
                self.carve(rule, &denied, reading())?;
            }
            if rule.access == Access::Write {
                self.carve(rule, &kept, write)?;
            }
        }
        Ok(())
    }

    /// Grants reading and executing the system and the tool chains, where no rule denies it.
    fn add_system(&mut self, scope: &Scope, system: &System) -> Result<(), String> {
        let denied = denials(scope);
        for path in system.readable.iter().map(PathBuf::as_path).chain(KERNEL.map(Path::new)) {
            let Some(path) = path.to_str().map(str::to_owned) else {
                continue;
            };
            let rule = ScopeRule { path, access: Access::Read, recursive: true };
            self.carve(&rule, &denied, reading())?;
        }
        Ok(())
    }

    fn carve(&mut self, rule: &ScopeRule, without: &[ScopeRule], access: BitFlags<AccessFs>) -> Result<(), String> {
        Carver::new(without, &mut |node, file| match node {
            Node::Whole => self.add(file, access),
            Node::OnTheWay => self.add(file, AccessFs::ReadDir.into()),
        })
        .grant(rule)
    }

    fn add_path(&mut self, path: &Path, access: BitFlags<AccessFs>) -> Result<(), String> {
        match open(path) {
            Ok(file) => self.add(&file, access),
            // It does not exist, or not under this name.
            Err(_) => Ok(()),
        }
    }

    fn add(&mut self, file: &OwnedFd, access: BitFlags<AccessFs>) -> Result<(), String> {
        let ruleset = self.ruleset.take().ok_or("the rules were lost")?;
        let rule = PathBeneath::new(file, access);
        let ruleset = ruleset.add_rule(rule).map_err(|error| format!("the kernel refused a rule: {error}"))?;
        self.ruleset = Some(ruleset);
        Ok(())
    }
}
