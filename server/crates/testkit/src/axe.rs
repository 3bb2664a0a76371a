//! Runs axe-core in the page: the problems that an accessibility checker finds in what a browser shows now.
//!
//! The checker is not part of this project. It is fetched once into the target folder and verified against its pinned
//! digest; without a network, [`VARIABLE`] names a local copy.

mod archive;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha512};

use crate::browser::Browser;

/// The path of an `axe.min.js` to use in place of a fetched one.
pub const VARIABLE: &str = "YOI_AXE";

const ADDRESS: &str = "https://registry.npmjs.org/axe-core/-/axe-core-4.10.3.tgz";

/// The archive's SHA-512, as npm pins it for this version.
const SHA512: &str = "5e6edba515e70d25f6604d9815f064d859c5d1ea7ab661bbc4f87c88779ef0c2\
    1cae0abbeb636471ef39e9d62d2582e4b88a1866f19f4ecfcf6d986275e4dc12";

const FILE_IN_ARCHIVE: &str = "package/axe.min.js";
const FILE_KEPT: &str = "axe-core-4.10.3.min.js";

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Finding {
    /// The rule, such as `color-contrast`.
    pub rule: String,
    /// `minor`, `moderate`, `serious` or `critical`.
    pub impact: String,
    /// Where: one text per element, with a selector and the problem there.
    pub places: Vec<String>,
}

impl Finding {
    /// Whether it keeps somebody from using the page.
    pub fn is_serious(&self) -> bool {
        matches!(self.impact.as_str(), "serious" | "critical")
    }
}

/// The checker's script, which can be run in any number of pages.
#[derive(Debug, Clone)]
pub struct Axe {
    script: String,
}

impl Axe {
    /// Reads the script, fetching it first if it is not there yet.
    ///
    /// # Panics
    /// If it cannot be obtained; the message says how to provide it.
    pub async fn load() -> Self {
        let path = match std::env::var_os(VARIABLE) {
            Some(path) => PathBuf::from(path),
            None => kept().await,
        };
        let script = std::fs::read_to_string(&path);
        Self { script: script.unwrap_or_else(|error| panic!("{} could not be read: {error}", path.display())) }
    }

    /// All problems of the page as it is shown now. The page's own policy does not apply to this script.
    pub async fn findings(&self, browser: &Browser) -> Vec<Finding> {
        if browser.eval("return typeof window.axe === 'undefined'").await == true {
            browser.eval(&self.script).await;
        }
        serde_json::from_value(browser.eval(RUN).await).expect("the script gives what a finding is made of")
    }
}

/// Waits for animations to end, because colours that are still fading in are no findings.
const RUN: &str = "return Promise.allSettled(document.getAnimations().filter(a => a.effect.getTiming().iterations !== Infinity)\
    .map(a => a.finished))\
    .then(() => axe.run(document, { preload: false, resultTypes: ['violations'] }))\
    .then(found => found.violations.map(v => ({ rule: v.id, impact: v.impact || 'minor', \
    places: v.nodes.map(n => n.target.join(' ') + ': ' + n.failureSummary.replace(/\\s+/g, ' ')) })))";

async fn kept() -> PathBuf {
    let file = crate::target().join("axe").join(FILE_KEPT);
    if !file.is_file() {
        let script = match fetched().await {
            Ok(script) => script,
            Err(error) => panic!(
                "axe-core, which checks the pages, could not be fetched ({error}). Fetch {ADDRESS} elsewhere, take \
                 {FILE_IN_ARCHIVE} out of it, and set {VARIABLE} to its path"
            ),
        };
        keep(&file, &script).unwrap_or_else(|error| panic!("{} could not be written: {error}", file.display()));
    }
    file
}

async fn fetched() -> anyhow::Result<Vec<u8>> {
    crate::yoi::install_tls_provider();
    let client = reqwest::Client::builder().timeout(crate::wait::WAIT_MAX).build()?;
    let archive = client.get(ADDRESS).send().await?.error_for_status()?.bytes().await?;
    let digest: String = Sha512::digest(&archive).iter().map(|byte| format!("{byte:02x}")).collect();
    anyhow::ensure!(digest == SHA512, "its digest is not the pinned one: {digest}");
    archive::file(&archive, FILE_IN_ARCHIVE)
}

/// Moves it to its final name only when it is complete, because several tests may fetch it at once.
fn keep(file: &Path, script: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let whole = tempfile::NamedTempFile::new_in(folder)?;
    std::fs::write(whole.path(), script)?;
    whole.persist(file)?;
    Ok(())
}
