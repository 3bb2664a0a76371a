//! Three yoi on the cluster, each by another way: HAProxy alone, through the proxy that cuts, and through PgBouncer.

use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::Value;
use testkit::yoi::{Launch, YoiProcess, pod_path};
use tokio::time::{Instant, sleep};

use super::crowd::Doors;

/// How long a server may take until it is ready and the database is written.
const READY_MAX: Duration = Duration::from_secs(90);
const LOOK_AGAIN: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) struct Servers {
    all: Vec<YoiProcess>,
}

impl Servers {
    pub(crate) async fn start(binary: &str, urls: &[String]) -> Self {
        let mut all = Vec::new();
        for (url, name) in urls.iter().zip(["one", "two", "three"]) {
            all.push(Launch::new(binary).arg("--database").arg(url).arg("--name").arg(name).start().await);
        }
        Self { all }
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn doors(&self) -> Doors {
        Doors::of(&self.all)
    }

    pub(crate) async fn kill(&mut self, victim: usize) {
        self.all[victim].kill9().await;
    }

    /// On the same port. Where the database is out for longer than a server waits for it, whoever watches over the
    /// server starts it again.
    pub(crate) async fn restart(&mut self, victim: usize) -> Result<()> {
        let (launch, address) = (self.all[victim].launch().clone(), self.all[victim].base_url().to_owned());
        let launch = launch.listen(address.trim_start_matches("http://"));
        let deadline = Instant::now() + READY_MAX;
        loop {
            match launch.clone().try_start().await {
                Ok(yoi) => {
                    self.all[victim] = yoi;
                    return Ok(());
                }
                Err(failed) if Instant::now() > deadline => bail!("a server does not start again: {failed:?}"),
                Err(_) => sleep(LOOK_AGAIN).await,
            }
        }
    }

    /// Waits until each of them can be used again.
    pub(crate) async fn ready(&self) -> Result<()> {
        let deadline = Instant::now() + READY_MAX;
        for yoi in &self.all {
            while yoi.get("/readyz").await.status != 200 {
                if Instant::now() > deadline {
                    bail!("a server is not ready again: {:?}\n{}", yoi.get("/readyz").await.body, yoi.log().join("\n"));
                }
                sleep(LOOK_AGAIN).await;
            }
        }
        Ok(())
    }

    /// How often these words are in the logs.
    pub(crate) fn count_in_logs(&self, words: &str) -> usize {
        self.all.iter().map(|yoi| yoi.log().iter().filter(|line| line.contains(words)).count()).sum()
    }

    /// A Pod's details as the first server has them.
    pub(crate) async fn detail(&self, pod: &Value) -> Value {
        self.all[0].get(&pod_path(pod)).await.expect(200)
    }

    /// The journal, as each server has it.
    pub(crate) async fn journals(&self, pod: &Value) -> Vec<Vec<Value>> {
        let mut journals = Vec::new();
        for yoi in &self.all {
            journals.push(yoi.journal(pod).await);
        }
        journals
    }
}
