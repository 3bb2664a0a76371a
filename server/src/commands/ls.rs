use ::commands::{Sign, sharing::also_here_words};
use anyhow::Result;
use protocol::{GitView, PodState, PodSummary};
use protocol::{
    operation::{Filled, Loose},
    operations::Pods,
};

use super::{Caller, name_of, pods_of};
use crate::{cli::LsOptions, output};

/// Prints all Pods, or the selected ones, in the order of the API.
pub(super) async fn ls(caller: &Caller, options: LsOptions) -> Result<()> {
    let is_filtered = options.state.is_some() || options.find.is_some();
    let filter = Pods { state: Filled(options.state), q: Loose(options.find), ..Pods::default() };
    let listing = pods_of(caller, filter).await?;
    if caller.config.json {
        return output::json(&listing);
    }
    if listing.items.is_empty() {
        output::note(match is_filtered {
            true => "no matching Pods; `yoi ls` lists all",
            false => "no Pods yet; `yoi new NAME` creates one",
        });
        return Ok(());
    }
    let all = &listing.items;
    output::headed(["NAME", "STATE", "MODEL", "FOLDER", "BRANCH", "ACTIVITY"], all.iter().map(|pod| row(pod, all)))
}

fn row(pod: &PodSummary, all: &[PodSummary]) -> [String; 6] {
    let sign = Sign::of(pod);
    // These two words already say it.
    let says_it = matches!(sign, Sign::Failed | Sign::Of(PodState::Waiting));
    let state = if pod.needs_you && !says_it { format!("{} (needs you)", sign.word()) } else { sign.word().to_owned() };
    let activity = pod.activity.clone().or_else(|| pod.state_reason.clone()).unwrap_or_default();
    let branch = pod.git.as_ref().map(GitView::words).unwrap_or_default();
    let folder = match also_here_words(all, pod) {
        Some(words) => format!("{} ({words})", pod.cwd),
        None => pod.cwd.clone(),
    };
    [name_of(&pod.name, &pod.pod), state, pod.model.clone(), folder, branch, activity]
}
