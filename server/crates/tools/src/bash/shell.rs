//! The process that becomes the shell: it drops its privileges and executes it.

use std::{
    env,
    fmt::Display,
    io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rustix::process::{Signal, set_parent_process_death_signal, setsid};

use super::{
    confine,
    first::Streams,
    kernel,
    order::{Hold, Order, Report},
    rights, seccomp,
    system::System,
};

/// After a commit, git tidies up a whole repository. In a shared one that is not a command's to do, and it would only be
/// told that it cannot.
const NO_UPKEEP: [(&str, &str); 3] =
    [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "maintenance.auto"), ("GIT_CONFIG_VALUE_0", "false")];

/// Returns only on failure.
pub(super) fn become_shell(order: &Order, system: &System, temp: &Path, streams: Streams) -> Report {
    let not_started = |what: &str, error: &dyn Display| Report::NotStarted(format!("{what}: {error}"));
    // Keeps a signal to the shell's process group from reaching others, and leaves it without a terminal through which
    // it could type on a person's behalf.
    if let Err(error) = setsid() {
        return not_started("it could not be taken from the terminal", &error);
    }
    // Without a sandbox, nothing else ties it to the process that waits for it.
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return not_started("its end could not be tied to the helper's", &error);
    }
    let mut command = match command(order, streams) {
        Ok(command) => command,
        Err(error) => return not_started("its output could not be opened", &error),
    };
    command.current_dir(&order.cwd).env("TMPDIR", temp);
    if !order.shared.is_empty() {
        command.envs(NO_UPKEEP);
    }
    if let Err(error) = order.limits.apply(matches!(order.hold, Hold::Room { .. })) {
        return not_started("its limits could not be set", &error);
    }
    // From here on nothing is opened that the command itself may not open.
    if let Err(error) = kernel::close_on_exec() {
        return not_started("what is open could not be closed to it", &error);
    }
    if let Err(reason) = give_up(order, system, temp) {
        return Report::Unconfined(reason);
    }
    let error = command.exec();
    match &order.program {
        None => not_started("the shell did not start", &error),
        Some(program) => not_started(program.arguments.first().map_or("", String::as_str), &error),
    }
}

/// Returns the command for the shell with its command line, or for a served program.
fn command(order: &Order, Streams { output, talk }: Streams) -> io::Result<Command> {
    let Some(program) = &order.program else {
        let mut command = Command::new(shell());
        command.arg("-c").arg(&order.command).stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        command.envs(order.network.variables());
        return Ok(command);
    };
    let mut arguments = program.arguments.iter();
    let mut command = Command::new(arguments.next().map_or("", String::as_str));
    let talk = talk.ok_or_else(|| io::Error::other("nobody talks to it"))?;
    command.args(arguments).stdin(talk.try_clone()?).stdout(talk).stderr(output);
    // The program's own take precedence.
    command.envs(order.network.variables());
    command.envs(program.variables.iter().map(|(name, value)| (name, value)));
    Ok(command)
}

fn give_up(order: &Order, system: &System, temp: &Path) -> Result<(), String> {
    match &order.hold {
        Hold::Nothing => Ok(()),
        Hold::Landlock => {
            rights::lower().map_err(|error| format!("the rights of its user could not be lowered: {error}"))?;
            confine::restrict(order, system, temp, false)
        }
        Hold::Room { .. } => {
            confine::restrict(order, system, temp, true)?;
            rights::drop_all().map_err(|error| format!("its rights could not be taken away: {error}"))?;
            seccomp::apply().map_err(|reason| format!("the kernel did not take the filter of its calls: {reason}"))
        }
    }
}

/// `bash`, or `sh` where there is none.
fn shell() -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let mut found = env::split_paths(&path).map(|folder| folder.join("bash")).filter(|file| file.is_absolute());
    found.find(|file| file.is_file()).unwrap_or_else(|| "/bin/sh".into())
}
