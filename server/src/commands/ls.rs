use std::collections::HashMap;

use ::commands::{Sign, by_need, family::may_ask, needing, sharing::also_here};
use anyhow::Result;
use protocol::{
    GitView, PodSummary,
    operation::{Filled, Loose},
    operations::Pods,
};

use super::{Caller, approvals, name_of, pods_of};
use crate::{cli::LsOptions, output};

/// Prints all Pods, or the selected ones: what needs you first, the longest wait before the others; then what runs, is
/// idle, is stopped. As JSON they are in the order of the API.
pub(super) async fn ls(caller: &Caller, options: LsOptions) -> Result<()> {
    let is_filtered = options.state.is_some() || options.find.is_some();
    let state = options.state.map(Sign::state);
    let filter = Pods { state: Filled(state), q: Loose(options.find), ..Pods::default() };
    let mut listing = pods_of(caller, filter).await?;
    listing.items.retain(|pod| options.state.is_none_or(|wanted| Sign::of(pod) == wanted));
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
    let all = &sorted(caller, &listing.items).await;
    output::headed(["NAME", "STATE", "MODEL", "FOLDER", "BRANCH", "ACTIVITY"], all.iter().map(|pod| row(pod, all)))
}

/// By need. A Pod that asks has waited since its oldest pending approval, any other since it last changed.
async fn sorted(caller: &Caller, pods: &[PodSummary]) -> Vec<PodSummary> {
    let asking: Vec<_> = pods.iter().filter(|pod| may_ask(pod)).cloned().collect();
    let mut since = HashMap::new();
    // The order of a single one is known. If they cannot be read now, the list is worth more than its exact order.
    if needing(pods, None, 0) > 1 {
        for open in approvals::of_pods(caller, &asking, false).await.unwrap_or_default() {
            since.entry(open.pod).or_insert(open.approval.asked_at);
        }
    }
    by_need(pods, |pod| since.get(&pod.pod).copied().unwrap_or(pod.updated_at))
}

fn row(pod: &PodSummary, all: &[PodSummary]) -> [String; 6] {
    let state = Sign::of(pod).word().to_owned();
    // A paused Pod may have a question that its state does not tell.
    let needs_you = || pod.needs_you.then(|| "needs you".to_owned());
    let activity = pod.activity.clone().or_else(|| pod.state_reason.clone()).or_else(needs_you).unwrap_or_default();
    let branch = pod.git.as_ref().map(GitView::words).unwrap_or_default();
    // How many others work in the same folder; `yoi show` names them.
    let folder = match also_here(all, pod).len() {
        0 => pod.cwd.clone(),
        others => format!("{} +{others}", pod.cwd),
    };
    [name_of(&pod.name, &pod.pod), state, pod.model.clone(), folder, branch, activity]
}
