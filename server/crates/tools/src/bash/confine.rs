//! Holds a process, and all that it starts, to a scope, by the kernel's Landlock.
//!
//! Landlock binds the thread that asks for it and cannot be taken back: only the helper may come here.
//!
//! What it does not hold: network connections, and before Linux 7.1 the connection to a named Unix socket. That a path
//! exists, its size and its times can always be asked. Beside the scope, a command reads the system's own folders and the
//! tool chains of the user (see `system`), unless a rule of the scope denies them.

use std::{path::Path, sync::OnceLock};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, RestrictSelf, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope as Shared,
};
use pod::Scope;
use protocol::{Access, ScopeRule};
use rustix::{
    fd::OwnedFd,
    io,
    thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities},
};

use super::{
    carve::{Carver, Node, open},
    system,
};

/// The first that can keep every file from being changed: before it, a file could be cut by its path.
const OLDEST: ABI = ABI::V3;
/// The newest that is known here; what the kernel lacks of it is left out.
const NEWEST: ABI = ABI::V9;
/// Devices without anything behind them.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// What the kernel of this machine can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confinement {
    /// Commands are held to their Pod's scope; `abi` is the version of Landlock that is used.
    Landlock { abi: i32 },
    /// They cannot be; the reason is half a sentence.
    Missing { reason: String },
}

/// Asked of the kernel once.
pub fn confinement() -> Confinement {
    static FOUND: OnceLock<Confinement> = OnceLock::new();
    FOUND.get_or_init(probe).clone()
}

fn probe() -> Confinement {
    let missing = |reason: &str| Confinement::Missing { reason: reason.to_owned() };
    // With nothing to restrict, this only tells what there is.
    let status = RestrictSelf::default().no_new_privs(false).apply().map(|status| status.landlock);
    match status {
        Ok(LandlockStatus::Available { effective_abi, .. }) if effective_abi >= OLDEST => {
            Confinement::Landlock { abi: effective_abi as i32 }
        }
        Ok(LandlockStatus::Available { .. }) => missing("its Landlock is older than that of Linux 6.2"),
        Ok(LandlockStatus::NotEnabled) => missing("Landlock is switched off in its kernel"),
        Ok(LandlockStatus::NotImplemented) => missing("its kernel has no Landlock"),
        Err(_) => missing("its kernel did not say whether it has Landlock"),
    }
}

/// What may be done beneath a rule that grants reading.
fn reading() -> BitFlags<AccessFs> {
    AccessFs::from_read(NEWEST)
}

/// What may be done beneath a rule that grants writing. Not device files: one leads past every scope.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
}

/// Confines the calling thread, for good. The error says what could not be done; then nothing may be run.
pub(super) fn restrict(scope: &Scope, temp: &Path) -> Result<(), String> {
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
    grants.add_scope(scope)?;
    grants.add_system(scope)?;
    grants.add_path(temp, writing())?;
    for device in DEVICES {
        grants.add_path(Path::new(device), AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev)?;
    }
    lower_rights().map_err(|error| format!("the rights of its user could not be lowered: {error}"))?;
    let status = grants.ruleset.ok_or("the rules were lost")?.restrict_self().map_err(|error| failed(&error))?;
    match status.ruleset {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced if status.no_new_privs => Ok(()),
        _ => Err("the kernel took the rules and does not enforce them".to_owned()),
    }
}

/// Keeps of root's rights what files and their owners need. With the others, root reads the memory of unconfined
/// processes, loads modules, or opens disks, past every rule. What is given up here does not come back when a program is
/// started.
fn lower_rights() -> io::Result<()> {
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
    set_capabilities(None, sets)
}

/// The rules for the kernel as they gather.
struct Grants {
    /// Adding a rule takes the set and gives it back.
    ruleset: Option<RulesetCreated>,
}

impl Grants {
    /// What the scope grants, without what its denials and its loans take away beneath.
    fn add_scope(&mut self, scope: &Scope) -> Result<(), String> {
        let denied = denials(scope);
        let kept = denied.iter().chain(scope.lent()).cloned().collect::<Vec<_>>();
        for rule in scope.rules() {
            if rule.access != Access::Deny {
                self.carve(rule, &denied, reading())?;
            }
            if rule.access == Access::Write {
                self.carve(rule, &kept, writing())?;
            }
        }
        Ok(())
    }

    /// The system and the tool chains: read and run, where no denial covers them.
    fn add_system(&mut self, scope: &Scope) -> Result<(), String> {
        let denied = denials(scope);
        for path in system::readable(scope) {
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
            // It is not there, or not by this name.
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

/// The denying rules, each also with the path that its own leads to: a denied link denies what it means.
fn denials(scope: &Scope) -> Vec<ScopeRule> {
    let denied = scope.rules().iter().filter(|rule| rule.access == Access::Deny);
    let real = |rule: &ScopeRule| {
        let path = Path::new(&rule.path).canonicalize().ok()?.to_str()?.to_owned();
        Some(ScopeRule { path, ..rule.clone() })
    };
    denied.flat_map(|rule| [Some(rule.clone()), real(rule)]).flatten().collect()
}
