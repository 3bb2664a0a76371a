//! Attacks through other programs' sockets: each greets whoever connects.

use super::Attack;

/// Connects to a path and prints the greeting.
macro_rules! to {
    ($path:literal) => {
        concat!(
            "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); $SIG{ALRM} = sub { exit }; alarm 3; if (connect(S, pack_sockaddr_un(\"",
            $path,
            "\"))) { print \"connected: \"; print scalar <S> }'"
        )
    };
}

pub(super) const ATTACKS: &[Attack] = &[
    ("a socket in /tmp", to!("/tmp/$ENV{MARK}.sock")),
    ("a socket in /run", to!("/run/$ENV{MARK}.sock")),
    ("a socket in shared memory", to!("/dev/shm/$ENV{MARK}.sock")),
    ("a socket beside the scope", to!("$ENV{OUT}/sock")),
    ("a socket in the denied folder", to!("$ENV{POD}/secret/sock")),
    ("a socket by a link in the scope", concat!("ln -sfn $OUT/sock link-to-socket; ", to!("link-to-socket"))),
    ("the server's own socket", to!("$ENV{DATA}/yoi.sock")),
    ("a socket with an abstract name", to!("\\0$ENV{MARK}")),
    ("a socket through the server's root", to!("/proc/$ENV{S}/root$ENV{OUT}/sock")),
    ("a socket through its own root", to!("/proc/self/root$ENV{OUT}/sock")),
    ("any socket in /run, /tmp and /var", "find /run /tmp /var -type s"),
    ("a raw socket", "perl -MSocket -e 'print \"got\" if socket(S, AF_INET, SOCK_RAW, 1)'"),
    ("a socket of packets", "perl -e 'print \"got\" if syscall(@socket@, 17, 3, 0) >= 0'"),
    ("a socket of the audit", "perl -e 'print \"got\" if syscall(@socket@, 16, 3, 9) >= 0'"),
    ("a socket of the devices' news", "perl -e 'print \"got\" if syscall(@socket@, 16, 3, 15) >= 0'"),
    ("a socket of the firewall", "perl -e 'print \"got\" if syscall(@socket@, 16, 3, 12) >= 0'"),
    ("a socket to other machines' kernels", "perl -e 'print \"got\" if syscall(@socket@, 40, 1, 0) >= 0'"),
    (
        "a pair of sockets of another kind",
        "perl -e '$p = pack(\"ii\", 0, 0); $! = 0; syscall(@socketpair@, 30, 1, 0, $p); print \"reached\" unless $!{EPERM}'",
    ),
];
