//! Which walls stand around commands on this machine. Determined once, by actually building a sandbox.

use std::{
    fmt,
    io::{self, BufRead, BufReader, Write},
    path::PathBuf,
    process::{Command, Stdio},
    sync::OnceLock,
};

use protocol::{Wall, WallItem, WallState};

use super::{
    BashOptions, Confine, Groups, confine, environment, helper,
    order::{Hold, Order, Report},
    room::bubblewrap,
};

/// How commands are confined on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confinement {
    /// Each in a sandbox of its own, with Landlock version `abi` beneath; built by bubblewrap if that is given.
    Room { bubblewrap: Option<PathBuf>, abi: i32 },
    /// They are not confined; the reason is half a sentence. `landlock` says whether at least that is available.
    Missing { reason: String, landlock: bool },
}

/// What builds a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Builder {
    /// Our own code, which is faster; bubblewrap where only that may create namespaces.
    #[default]
    Quickest,
    /// Bubblewrap if it is installed and works, otherwise our own code.
    Bubblewrap,
    /// Never bubblewrap.
    Own,
}

/// Determined once for each builder. Takes some tens of milliseconds.
pub fn confinement(builder: Builder) -> Confinement {
    static FOUND: [OnceLock<Confinement>; 3] = [const { OnceLock::new() }; 3];
    FOUND[builder as usize].get_or_init(|| probe(builder)).clone()
}

fn probe(builder: Builder) -> Confinement {
    let abi = match confine::version() {
        Ok(abi) => abi,
        Err(reason) => return Confinement::Missing { reason: reason.to_owned(), landlock: false },
    };
    let other = bubblewrap::found().filter(|_| builder != Builder::Own).map(Some);
    let mut builders = Vec::from_iter(other.into_iter().chain([None]));
    if builder == Builder::Quickest {
        builders.reverse();
    }
    let mut reasons = Vec::new();
    for bubblewrap in builders {
        match try_room(bubblewrap.clone()) {
            Ok(()) => return Confinement::Room { bubblewrap, abi },
            Err(reason) if bubblewrap.is_some() => reasons.push(format!("bubblewrap could not either: {reason}")),
            Err(reason) => reasons.insert(0, reason),
        }
    }
    Confinement::Missing { reason: reasons.join("; "), landlock: true }
}

/// Runs a command that does nothing, in a sandbox without a scope.
fn try_room(bubblewrap: Option<PathBuf>) -> Result<(), String> {
    match carried_out(&Order::nothing(Hold::Room { bubblewrap })) {
        Ok(Report::Exited(0)) => Ok(()),
        Ok(Report::Unconfined(reason) | Report::NotStarted(reason)) => Err(reason),
        Ok(Report::Exited(code)) => Err(format!("a first command in a room ended with {code}")),
        Ok(Report::Signalled(signal)) => Err(format!("a first command in a room was ended by signal {signal}")),
        Err(error) => Err(format!("a first room could not be tried: {error}")),
    }
}

/// Runs an order synchronously, without an async runtime.
pub(super) fn carried_out(order: &Order) -> io::Result<Report> {
    let options = BashOptions::of_this_process();
    let mut helper = Command::new(&options.helper)
        .arg(helper::KEEPER)
        .env_clear()
        .envs(environment::shown(std::env::vars_os(), &options.environment))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut line = serde_json::to_vec(order)?;
    line.push(b'\n');
    // Open until it has reported.
    let mut control = helper.stdin.take();
    if let Some(control) = &mut control {
        control.write_all(&line)?;
    }
    let mut said = String::new();
    if let Some(report) = helper.stdout.take() {
        BufReader::new(report).read_line(&mut said)?;
    }
    drop(control);
    helper.wait()?;
    Ok(serde_json::from_str(&said)?)
}

/// The walls and their states, for people.
pub fn walls(confine: Confine, builder: Builder, groups: &Groups) -> Vec<WallItem> {
    let found = match confine {
        Confine::Auto => confinement(builder),
        Confine::Never => Confinement::Missing { reason: "that is switched off".to_owned(), landlock: false },
    };
    let item = |wall, state, detail: &dyn fmt::Display| WallItem { wall, state, detail: Some(detail.to_string()) };
    let cgroup = groups.wall();
    match found {
        Confinement::Room { bubblewrap, abi } => {
            let by = bubblewrap.map_or("yoi itself".to_owned(), |program| program.display().to_string());
            vec![
                item(Wall::Namespaces, WallState::On, &format!("a room for each command, built by {by}")),
                item(Wall::Landlock, WallState::On, &format!("version {abi}")),
                item(Wall::Seccomp, WallState::On, &"calls that lead out of a room are refused"),
                cgroup,
                item(Wall::Network, WallState::On, &"commands have a network of their own"),
            ]
        }
        Confinement::Missing { reason, landlock } => {
            let asked = format!("each command is asked for: {reason}");
            let landlock = match landlock {
                true => item(Wall::Landlock, WallState::On, &"it is applied, and is not enough alone"),
                false => item(Wall::Landlock, WallState::Off, &reason),
            };
            vec![
                item(Wall::Namespaces, WallState::Off, &asked),
                landlock,
                item(Wall::Seccomp, WallState::Off, &"it stands with the room"),
                cgroup,
                item(Wall::Network, WallState::Off, &"commands have the network of the machine"),
            ]
        }
    }
}
