//! One command from its start to its end, seen from yoi: the helper is started, told its order, listened to, and let go.

use std::{
    future::pending,
    io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    runtime::Handle,
    time::{Instant, sleep_until, timeout},
};

use super::{
    BashOptions,
    clock::Clock,
    ending::Ending,
    environment, groups, helper,
    kept::Kept,
    live::Live,
    order::{Order, Report},
};
use crate::{Lifeline, Output};

/// For the helper to end a command that was told to stop. A process that is stuck in the kernel takes longer.
const END_WAIT: Duration = Duration::from_secs(5);
const READ_BYTES: usize = 32 * 1024;

/// A helper with its command. Dropping it ends both: the helper ends everything when its input closes.
#[derive(Debug)]
pub(super) struct Running {
    /// Ends last of all.
    helper: Option<Child>,
    /// Held until then.
    lifeline: Option<Lifeline>,
    control: Option<ChildStdin>,
    report: BufReader<ChildStdout>,
    output: ChildStderr,
    /// The command's, which the helper removes, unless it is killed.
    group: Option<PathBuf>,
}

impl Running {
    pub(super) async fn start(options: &BashOptions, order: &Order, lifeline: Lifeline) -> io::Result<Self> {
        let mut helper = Command::new(&options.helper)
            .arg0("yoi")
            .arg(helper::KEEPER)
            .env_clear()
            .envs(environment::shown(std::env::vars_os(), &options.environment))
            .current_dir(Path::new("/"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let missing = || io::Error::other("a pipe of the helper is missing");
        let control = helper.stdin.take().ok_or_else(missing)?;
        let report = BufReader::new(helper.stdout.take().ok_or_else(missing)?);
        let output = helper.stderr.take().ok_or_else(missing)?;
        let (helper, lifeline) = (Some(helper), Some(lifeline));
        let group = order.group.as_ref().map(|group| group.folder.clone());
        let mut running = Self { helper, lifeline, control: Some(control), report, output, group };
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        if let Some(control) = &mut running.control {
            control.write_all(&line).await?;
        }
        Ok(running)
    }

    /// Passes the output on until the command, and all that it started, has ended.
    pub(super) async fn finish(mut self, mut clock: Clock, kept: &mut Kept, live: &mut Live, to: &Output) -> Ending {
        let mut stopped = None;
        let mut deadline = None;
        let mut buffer = vec![0; READ_BYTES];
        let mut is_open = true;
        while is_open {
            let due = live.due();
            let is_due = due.is_some_and(|due| due <= Instant::now());
            tokio::select! {
                read = self.output.read(&mut buffer), if !live.is_full() || stopped.is_some() => {
                    let count = read.unwrap_or(0);
                    is_open = count > 0;
                    let (text, is_all) = kept.push(&buffer[..count]).await;
                    live.push(&text);
                    if !is_all && stopped.is_none() {
                        stopped = Some(Ending::TooMuchOutput);
                        deadline = Some(self.stop());
                    }
                }
                permit = to.reserve(), if is_due => match permit {
                    Ok(permit) => live.send_piece(permit),
                    Err(_) => live.close(),
                },
                () = until(due), if !is_due => (),
                () = clock.run_out(), if stopped.is_none() => {
                    stopped = Some(Ending::TimeLimit);
                    deadline = Some(self.stop());
                }
                () = until(deadline) => is_open = false,
                // What it could not end may hold the output open.
                () = ended(self.helper.as_mut()), if self.group.is_some() => end_left_behind(self.group.take()).await,
            }
        }
        let report = self.report().await;
        stopped.or(report.map(Ending::Reported)).unwrap_or(Ending::HelperLost)
    }

    /// Tells the helper to end everything; until when it has time for that.
    fn stop(&mut self) -> Instant {
        self.control = None;
        Instant::now() + END_WAIT
    }

    /// The helper has ended, or does not.
    async fn report(&mut self) -> Option<Report> {
        let mut line = String::new();
        let read = timeout(END_WAIT, self.report.read_line(&mut line)).await;
        self.control = None;
        if let Some(helper) = &mut self.helper
            && timeout(END_WAIT, helper.wait()).await.is_ok()
        {
            self.helper = None;
            end_left_behind(self.group.take()).await;
        }
        read.ok()?.ok()?;
        serde_json::from_str(&line).ok()
    }
}

/// Without a time it does not return.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}

async fn ended(helper: Option<&mut Child>) {
    if let Some(helper) = helper {
        let _ = helper.wait().await;
    }
}

/// Of a helper that could not do it.
async fn end_left_behind(group: Option<PathBuf>) {
    if let Some(group) = group.filter(|group| group.exists()) {
        let _ = tokio::task::spawn_blocking(move || groups::end(&group)).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.control = None;
        // Without a runtime the process is about to end, and with it every share in the lifeline.
        let (lifeline, group) = (self.lifeline.take(), self.group.take());
        if let (Some(mut helper), Ok(runtime)) = (self.helper.take(), Handle::try_current()) {
            runtime.spawn(async move {
                let _ = helper.wait().await;
                end_left_behind(group).await;
                drop(lifeline);
            });
        }
    }
}
