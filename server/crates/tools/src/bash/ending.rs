//! Turns the way a command ended into what a model is told.

use std::time::Duration;

use pod::ToolOutcome;

use super::{failure::Failure, kept::OUTPUT_BYTES_MAX, order::Report};

/// How a command ended.
#[derive(Debug)]
pub(super) enum Ending {
    Reported(Report),
    TimeLimit,
    TooMuchOutput,
    /// Told to end. Only background commands.
    Stopped,
    /// The helper itself was killed or crashed.
    HelperLost,
}

/// A command that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) ending: Ending,
    pub(super) is_confined: bool,
    pub(super) limit: Duration,
    pub(super) took: Duration,
    pub(super) lines: usize,
    /// What is reported about what it left behind; usually empty.
    pub(super) left: String,
    pub(super) content: String,
}

impl Ended {
    pub(super) fn outcome(self) -> Result<ToolOutcome, Failure> {
        let (code, said) = match self.ending {
            Ending::Reported(Report::Unconfined(reason)) => return Err(Failure::NotConfined(reason)),
            Ending::Reported(Report::NotStarted(reason)) => return Err(Failure::NotStarted(reason)),
            Ending::Reported(Report::Exited(0)) => (None, "exit 0".to_owned()),
            Ending::Reported(Report::Exited(code)) => (Some("exit"), format!("exit {code}")),
            Ending::Reported(Report::Signalled(signal)) => (Some("signal"), format!("killed by signal {signal}")),
            Ending::TimeLimit => (Some("timeout"), format!("killed after {} s (time limit)", self.limit.as_secs())),
            Ending::TooMuchOutput => {
                let most = OUTPUT_BYTES_MAX >> 20;
                (Some("output"), format!("killed after {most} MiB of output (the most that is kept)"))
            }
            Ending::Stopped => (Some("signal"), "stopped".to_owned()),
            Ending::HelperLost => (Some("signal"), "killed together with its helper".to_owned()),
        };
        let time = match code {
            None | Some("exit") => format!(" in {:.1} s", self.took.as_secs_f64()),
            _ => String::new(),
        };
        let lines = format!(" · {} {}", self.lines, if self.lines == 1 { "line" } else { "lines" });
        let doubt = if self.is_confined { "" } else { "not confined by the kernel: " };
        Ok(ToolOutcome {
            content: Some(self.content),
            is_error: code.is_some(),
            code: code.map(str::to_owned),
            duration_ms: u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
            ..ToolOutcome::done(format!("{doubt}{said}{time}{lines}{}", self.left))
        })
    }
}
