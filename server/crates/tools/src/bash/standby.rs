//! Helpers, and one that is started ahead: its start takes longer than a short command, so while one command runs, the helper of the
//! next one is started and waits for its order. It has been told nothing and holds nothing. It ends when its input closes: when nobody
//! has wanted it for a while, and with yoi.

use std::{
    io,
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::AsyncWriteExt,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
    time::sleep,
};

use super::{BashOptions, environment, helper};

/// How long one waits for a command.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A keeper as yoi sees it. It ends everything, and itself, when `control` is dropped.
#[derive(Debug)]
pub(super) struct Helper {
    pub(super) process: Child,
    pub(super) control: ChildStdin,
    pub(super) report: ChildStdout,
    pub(super) output: ChildStderr,
}

impl Helper {
    fn start(options: &BashOptions) -> io::Result<Self> {
        let mut process = Command::new(&options.helper)
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
        let control = process.stdin.take().ok_or_else(missing)?;
        let report = process.stdout.take().ok_or_else(missing)?;
        let output = process.stderr.take().ok_or_else(missing)?;
        Ok(Self { process, control, report, output })
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.process.try_wait(), Ok(None))
    }
}

/// At most one helper that waits, and what lets go of it in time.
#[derive(Debug, Clone, Default)]
pub(super) struct Standby(Arc<Mutex<Option<(Helper, JoinHandle<()>)>>>);

impl Standby {
    /// A helper that has been told `order`: the one that waits, else a new one.
    pub(super) async fn told(&self, options: &BashOptions, order: &[u8]) -> io::Result<Helper> {
        // One that is gone, whoever ended it, has run nothing.
        if let Some(mut helper) = self.take()
            && !helper.has_ended()
            && helper.control.write_all(order).await.is_ok()
        {
            return Ok(helper);
        }
        let mut helper = Helper::start(options)?;
        helper.control.write_all(order).await?;
        Ok(helper)
    }

    /// Has one wait for the next command.
    pub(super) fn prepare(&self, options: &BashOptions) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.is_none()
            && let Ok(helper) = Helper::start(options)
        {
            let own = Arc::downgrade(&self.0);
            let letting_go = tokio::spawn(async move {
                sleep(WAIT_MAX).await;
                if let Some(own) = own.upgrade() {
                    Self(own).take();
                }
            });
            *waiting = Some((helper, letting_go));
        }
    }

    fn take(&self) -> Option<Helper> {
        let (helper, letting_go) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        letting_go.abort();
        Some(helper)
    }
}
