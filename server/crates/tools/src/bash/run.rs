//! One command from start to end, as seen by yoi: the helper is started, given its order, listened to, and let go.

use std::{
    future::{Future, pending},
    io,
    path::PathBuf,
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
    runtime::Handle,
    time::{Instant, sleep_until, timeout},
};

use super::{
    BashOptions,
    clock::Clock,
    ending::Ending,
    groups,
    kept::Kept,
    live::Live,
    order::{Order, Report},
    standby::{Helper, Standby},
};
use crate::{Drain, Lifeline, Output};

/// How long the helper may take to end a command that was told to stop. A process stuck in the kernel takes longer.
const END_WAIT: Duration = Duration::from_secs(5);
/// What the helper is told before its input closes: the command gets SIGTERM, and SIGKILL two seconds later. If the
/// input just closes, as when yoi dies, the command is killed at once.
const TELL_TO_END: &[u8] = b"end\n";
/// Longer than the helper waits between the two.
const GRACE: Duration = Duration::from_millis(2_500);
const READ_BYTES: usize = 32 * 1024;
/// The most reads for one who waits for what has been written: a pipe holds 64 KiB, and a command may go on writing.
const READS_MAX: usize = 4;

/// A helper with its command. Dropping it ends both: the helper ends everything when its input closes.
#[derive(Debug)]
pub(super) struct Running {
    /// Ends last of all.
    helper: Option<Child>,
    /// Held until then.
    lifeline: Option<Lifeline>,
    control: Option<ChildStdin>,
    report: BufReader<ChildStdout>,
    /// `None` only while it is dropped.
    output: Option<ChildStderr>,
    /// The command's group, which the helper removes unless it is killed.
    group: Option<PathBuf>,
}

impl Running {
    pub(super) async fn start(
        helpers: &Standby,
        options: &BashOptions,
        order: &Order,
        lifeline: Lifeline,
    ) -> io::Result<Self> {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        let Helper { process, control, report, output } = helpers.told(options, &line).await?;
        Ok(Self {
            helper: Some(process),
            lifeline: Some(lifeline),
            control: Some(control),
            report: BufReader::new(report),
            output: Some(output),
            group: order.group.as_ref().map(|group| group.folder.clone()),
        })
    }

    /// Forwards the output until the command and everything that it started have ended; when asked by `drain`, at once.
    pub(super) async fn finish(
        mut self,
        mut clock: Clock,
        mut drain: Drain,
        kept: &mut Kept,
        live: &mut Live,
        to: &Output,
    ) -> Ending {
        let mut stopped = None;
        let mut deadline = None;
        let mut buffer = vec![0; READ_BYTES];
        let mut is_open = true;
        while is_open {
            let due = live.due();
            let is_due = due.is_some_and(|due| due <= Instant::now());
            tokio::select! {
                read = read(&mut self.output, &mut buffer), if !live.is_full() || stopped.is_some() => {
                    let count = read;
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
                () = drain.asked() => {
                    for _ in 0..READS_MAX {
                        let count = read_now(self.output.as_ref(), &mut buffer);
                        live.push(&kept.push(&buffer[..count]).await.0);
                    }
                    live.finish(to).await;
                    // That is all.
                    let _ = to.send(String::new()).await;
                }
                () = clock.run_out(), if stopped.is_none() => {
                    stopped = Some(Ending::TimeLimit);
                    deadline = Some(self.stop());
                }
                () = until(deadline) => is_open = false,
                // Processes that the helper could not end may hold the output open.
                () = ended(self.helper.as_mut()), if self.group.is_some() => end_left_behind(self.group.take()).await,
            }
        }
        let report = self.report().await;
        stopped.or(report.map(Ending::Reported)).unwrap_or(Ending::HelperLost)
    }

    /// Gives `take` the output until the command and everything that it started have ended. Once `is_stopped` is done,
    /// the command is told to end.
    pub(super) async fn follow(mut self, is_stopped: impl Future<Output = ()>, mut take: impl FnMut(&[u8])) -> Ending {
        tokio::pin!(is_stopped);
        let (mut deadline, mut is_open) = (None, true);
        let mut buffer = vec![0; READ_BYTES];
        while is_open {
            tokio::select! {
                count = read(&mut self.output, &mut buffer) => {
                    is_open = count > 0;
                    take(&buffer[..count]);
                }
                () = &mut is_stopped, if deadline.is_none() => {
                    if let Some(control) = &mut self.control {
                        let _ = control.write_all(TELL_TO_END).await;
                    }
                    deadline = Some(Instant::now() + GRACE + END_WAIT);
                }
                () = until(deadline) => is_open = false,
                // Processes that the helper could not end may hold the output open.
                () = ended(self.helper.as_mut()), if self.group.is_some() => end_left_behind(self.group.take()).await,
            }
        }
        let report = self.report().await;
        let is_stopped = deadline.is_some() && !matches!(report, Some(Report::Exited(_)));
        match report {
            _ if is_stopped => Ending::Stopped,
            Some(report) => Ending::Reported(report),
            None => Ending::HelperLost,
        }
    }

    /// Tells the helper to end everything. Returns the deadline for that.
    fn stop(&mut self) -> Instant {
        self.control = None;
        Instant::now() + END_WAIT
    }

    /// The helper's final report: everything has ended. `None` if the helper is lost or does not end.
    async fn report(&mut self) -> Option<Report> {
        let mut line = String::new();
        let read = timeout(END_WAIT, self.report.read_line(&mut line)).await;
        self.control = None;
        if let Ok(Ok(_)) = read
            && let Ok(report) = serde_json::from_str(&line)
        {
            return Some(report);
        }
        if let Some(helper) = &mut self.helper
            && timeout(END_WAIT, helper.wait()).await.is_ok()
        {
            self.helper = None;
            end_left_behind(self.group.take()).await;
        }
        None
    }
}

/// The number of bytes that were read; 0 at the end. Cancel safe.
async fn read(output: &mut Option<ChildStderr>, buffer: &mut [u8]) -> usize {
    match output {
        Some(output) => output.read(buffer).await.unwrap_or(0),
        None => 0,
    }
}

/// The number of bytes that could be read without waiting, whatever the runtime has noticed of them.
fn read_now(output: Option<&ChildStderr>, buffer: &mut [u8]) -> usize {
    output.and_then(|output| rustix::io::read(output, buffer).ok()).unwrap_or(0)
}

/// Never returns if there is no time.
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

/// Ends what a lost helper left in its group.
async fn end_left_behind(group: Option<PathBuf>) {
    if let Some(group) = group.filter(|group| group.exists()) {
        let _ = tokio::task::spawn_blocking(move || groups::end(&group)).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Without a runtime the process is about to end, and with it every share of the lifeline.
        let (lifeline, group) = (self.lifeline.take(), self.group.take());
        let (control, output) = (self.control.take(), self.output.take());
        if let (Some(mut helper), Ok(runtime)) = (self.helper.take(), Handle::try_current()) {
            runtime.spawn(async move {
                if let Some(mut control) = control {
                    let _ = control.write_all(TELL_TO_END).await;
                    // What it still says while it ends is read, so that its end is not held up.
                    let read = async {
                        if let Some(mut output) = output {
                            let _ = tokio::io::copy(&mut output, &mut tokio::io::sink()).await;
                        }
                        let _ = helper.wait().await;
                    };
                    let _ = timeout(GRACE + END_WAIT, read).await;
                }
                let _ = helper.wait().await;
                end_left_behind(group).await;
                drop(lifeline);
            });
        }
    }
}
