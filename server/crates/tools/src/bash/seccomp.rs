//! Which system calls a command may make: those that programs need, and none that reach around the sandbox.
//!
//! Three filters in sequence. System calls that were added after this was written do not exist here, nor do calls whose
//! arguments a filter cannot see; programs then do what they would on an older kernel. Calls that are known to lead out
//! of the sandbox are refused. And no file gets the bits that make a program run as its owner.

use std::{collections::BTreeMap, env::consts::ARCH, sync::OnceLock};

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen::Dword, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// The last call that was considered (`mseal`); newer ones have the same number on every architecture.
const LAST_KNOWN: u32 = 462;
/// Numbers that are the same everywhere and that the `libc` crate does not have yet.
const STATMOUNT: c_long = 457;
const LISTMOUNT: c_long = 458;
/// Their arguments are in memory, which a filter cannot see.
const UNSEEN: [c_long; 2] = [libc::SYS_clone3, libc::SYS_openat2];
/// Always refused.
const REFUSED: [c_long; 57] = [
    // Mounts and roots.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    STATMOUNT,
    LISTMOUNT,
    // Namespaces.
    libc::SYS_unshare,
    libc::SYS_setns,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // Keys of the account's session.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Large parts of the kernel that commands do not need and in which vulnerabilities are found.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_lookup_dcookie,
    libc::SYS_vhangup,
    libc::SYS_mbind,
    libc::SYS_set_mempolicy,
    libc::SYS_set_mempolicy_home_node,
    // Files by handle, bypassing every folder.
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    // The machine.
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
];
/// Clone flags that put a new process into namespaces of its own. In `clone` the last one counts as part of the signal
/// instead.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWCGROUP,
];
const FAMILIES: [libc::c_int; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
/// Ioctls that type into another terminal, or the console's.
const TERMINAL: [u64; 2] = [0x5412, 0x541c];
/// Allowed personalities: unchanged, 32-bit addresses, an older version's name, and the query.
const PERSONALITIES: [u64; 5] = [0, 8, 0x0002_0000, 0x0002_0008, 0xffff_ffff];
/// For each call: which argument is a file's mode, and for some which says whether a file is created.
const MODES: [(c_long, u8); 5] = [
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_fchmodat2, 2),
    (libc::SYS_mkdirat, 2),
    (libc::SYS_mknodat, 2),
];
#[cfg(target_arch = "x86_64")]
const OLD_MODES: [(c_long, u8); 4] =
    [(libc::SYS_chmod, 1), (libc::SYS_mkdir, 1), (libc::SYS_mknod, 1), (libc::SYS_creat, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OLD_MODES: [(c_long, u8); 0] = [];
#[cfg(target_arch = "x86_64")]
const OLD_REFUSED: [c_long; 4] = [libc::SYS_ioperm, libc::SYS_iopl, libc::SYS_uselib, libc::SYS__sysctl];
#[cfg(not(target_arch = "x86_64"))]
const OLD_REFUSED: [c_long; 0] = [];
#[cfg(target_arch = "x86_64")]
const OPENS: [(c_long, u8); 2] = [(libc::SYS_open, 1), (libc::SYS_openat, 2)];
#[cfg(not(target_arch = "x86_64"))]
const OPENS: [(c_long, u8); 1] = [(libc::SYS_openat, 2)];

/// Binds this thread, and everything that it becomes and starts, permanently.
pub(super) fn apply() -> Result<(), String> {
    for program in prepared().as_ref().map_err(Clone::clone)? {
        apply_filter(program).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Builds the filters in advance, for this process and those forked from it.
pub(super) fn prepare() {
    let _ = prepared();
}

fn prepared() -> &'static Result<[BpfProgram; 3], String> {
    static PREPARED: OnceLock<Result<[BpfProgram; 3], String>> = OnceLock::new();
    PREPARED.get_or_init(|| programs().map_err(|error| error.to_string()))
}

fn programs() -> Result<[BpfProgram; 3], BackendError> {
    let unseen = UNSEEN.iter().map(|call| (*call, Vec::new())).collect();
    Ok([known(), compiled(unseen, libc::ENOSYS)?, compiled(refused()?, libc::EPERM)?])
}

fn compiled(rules: Rules, errno: i32) -> Result<BpfProgram, BackendError> {
    let refusal = SeccompAction::Errno(errno.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refusal, TargetArch::try_from(ARCH)?)?.try_into()
}

/// Calls with a number above the last known one do not exist. This also covers calls of the x32 ABI.
fn known() -> BpfProgram {
    const LOAD: u16 = 0x20;
    const JUMP_IF_GREATER: u16 = 0x25;
    const RETURN: u16 = 0x06;
    const NOT_THERE: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    vec![
        sock_filter { code: LOAD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_GREATER, jt: 0, jf: 1, k: LAST_KNOWN },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: NOT_THERE },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW },
    ]
}

fn refused() -> Result<Rules, BackendError> {
    let mut rules: Rules = REFUSED.iter().chain(&OLD_REFUSED).map(|call| (*call, Vec::new())).collect();
    let namespaces = NAMESPACES.iter().map(|bit| all([has(0, bit.unsigned_abs())?]));
    rules.insert(libc::SYS_clone, namespaces.collect::<Result<_, _>>()?);
    rules.insert(libc::SYS_ioctl, TERMINAL.iter().map(|call| all([is(1, *call)?])).collect::<Result<_, _>>()?);
    let other = PERSONALITIES.iter().map(|kind| is_not(0, *kind)).collect::<Result<Vec<_>, _>>()?;
    rules.insert(libc::SYS_personality, vec![SeccompRule::new(other)?]);
    let sockets = sockets()?;
    rules.insert(libc::SYS_socket, sockets.clone());
    rules.insert(libc::SYS_socketpair, sockets);
    for (call, argument) in MODES.iter().chain(&OLD_MODES) {
        rules.insert(*call, runs_as_owner(*argument)?);
    }
    for (call, flags) in OPENS {
        rules.insert(call, made_to_run_as_owner(flags)?);
    }
    // Device files, which root could open.
    for (call, argument) in MODES.iter().chain(&OLD_MODES).filter(|(call, _)| is_mknod(*call)) {
        let devices = [libc::S_IFCHR, libc::S_IFBLK].map(|kind| all([masked(*argument, libc::S_IFMT, kind)?]));
        rules.entry(*call).or_default().extend(devices.into_iter().collect::<Result<Vec<_>, _>>()?);
    }
    Ok(rules)
}

#[cfg(target_arch = "x86_64")]
fn is_mknod(call: c_long) -> bool {
    matches!(call, libc::SYS_mknod | libc::SYS_mknodat)
}

#[cfg(not(target_arch = "x86_64"))]
fn is_mknod(call: c_long) -> bool {
    call == libc::SYS_mknodat
}

/// Refuses socket families other than internet and Unix sockets, and netlink except for listing addresses.
fn sockets() -> Result<Vec<SeccompRule>, BackendError> {
    let other =
        FAMILIES.iter().map(|family| is_not(0, (*family).unsigned_abs().into())).collect::<Result<Vec<_>, _>>()?;
    let netlink =
        [is(0, libc::AF_NETLINK.unsigned_abs().into())?, is_not(2, libc::NETLINK_ROUTE.unsigned_abs().into())?];
    Ok(vec![SeccompRule::new(other)?, all(netlink)?])
}

fn runs_as_owner(mode: u8) -> Result<Vec<SeccompRule>, BackendError> {
    [libc::S_ISUID, libc::S_ISGID].iter().map(|bit| all([has(mode, *bit)?])).collect()
}

/// The mode is the argument after the flags.
fn made_to_run_as_owner(flags: u8) -> Result<Vec<SeccompRule>, BackendError> {
    let made = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY].map(i32::unsigned_abs);
    let bits = [libc::S_ISUID, libc::S_ISGID];
    let both = made.iter().flat_map(|made| bits.iter().map(move |bit| (*made, *bit)));
    both.map(|(made, bit)| all([has(flags, made)?, has(flags + 1, bit)?])).collect()
}

fn all<const N: usize>(conditions: [SeccompCondition; N]) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(conditions.to_vec())
}

fn is(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, Dword, SeccompCmpOp::Eq, value)
}

fn is_not(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, Dword, SeccompCmpOp::Ne, value)
}

fn has(argument: u8, bit: u32) -> Result<SeccompCondition, BackendError> {
    masked(argument, bit, bit)
}

fn masked(argument: u8, mask: u32, value: u32) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, Dword, SeccompCmpOp::MaskedEq(mask.into()), value.into())
}
