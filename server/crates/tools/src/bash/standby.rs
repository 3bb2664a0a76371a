//! Helpers, with one started ahead: starting one takes longer than a short command, so when a command has ended, the
//! helper for the next one is started and waits for its order. It has been told nothing and holds nothing. It ends when
//! its input closes: when it has not been needed for a while, and with yoi.

use std::{
    io,
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    io::AsyncWriteExt,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    time::sleep,
};

use super::{BashOptions, environment, helper};

/// After the end of a command, whose result is being stored meanwhile.
const PAUSE: Duration = Duration::from_millis(2);
/// How long one waits for a command.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A keeper as seen by yoi. It ends everything, including itself, when `control` is dropped.
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

/// At most one waiting helper.
#[derive(Debug, Clone, Default)]
pub(super) struct Standby(Arc<Mutex<Option<Helper>>>);

impl Standby {
    /// A helper that has been given `order`: the waiting one, otherwise a new one.
    pub(super) async fn told(&self, options: &BashOptions, order: &[u8]) -> io::Result<Helper> {
        // If it has ended for any reason, it has run nothing.
        let waiting = self.waiting().take();
        if let Some(mut helper) = waiting
            && !helper.has_ended()
            && helper.control.write_all(order).await.is_ok()
        {
            return Ok(helper);
        }
        let mut helper = Helper::start(options)?;
        helper.control.write_all(order).await?;
        Ok(helper)
    }

    /// Starts one for the next command in the background.
    pub(super) fn prepare(&self, options: &BashOptions) {
        let (own, options) = (Arc::downgrade(&self.0), options.clone());
        tokio::spawn(async move {
            sleep(PAUSE).await;
            if let Some(number) = own.upgrade().and_then(|own| Self(own).start(&options)) {
                sleep(WAIT_MAX).await;
                if let Some(own) = own.upgrade() {
                    Self(own).waiting().take_if(|helper| helper.process.id() == Some(number));
                }
            }
        });
    }

    /// The number of the one that was started; `None` if one is waiting already.
    fn start(&self, options: &BashOptions) -> Option<u32> {
        let mut waiting = self.waiting();
        if waiting.is_some() {
            return None;
        }
        let helper = Helper::start(options).ok()?;
        let number = helper.process.id();
        *waiting = Some(helper);
        number
    }

    fn waiting(&self) -> MutexGuard<'_, Option<Helper>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
