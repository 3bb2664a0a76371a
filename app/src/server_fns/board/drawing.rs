//! Draws what the board shows as a whole, as HTML. Everything that Pods say is text in it, never markup; and no element
//! has a style of its own, which the page's policy forbids.

use commands::{Sign, family::indented};
use jiff::{Timestamp, Zoned, tz::TimeZone};
use leptos::prelude::*;
use protocol::{Cost, GitView, PodState, PodSummary, UsageDay};
use transcript::{
    unseen,
    words::{about_cost, about_tokens},
};

use super::{
    allowance::{Allowance, reset_words},
    reader::{Done, sum},
    strip::{Axis, SIZE},
};
use crate::format::{counted, percent, short_path};

/// From which part on a budget is nearly spent: the part at which its Pod is warned.
const NEAR: f64 = 0.8;
/// How many parts the bar of today's cost is divided into.
const PARTS_MAX: usize = 2;

/// The sentence below the greeting.
pub(super) fn lede(done: &[Done], now: &Zoned, since: Timestamp) -> String {
    let active: Vec<_> = done.iter().filter(|done| done.ran).collect();
    let since = since_words(now, since);
    let failed = active.iter().filter(|done| done.failed_at.is_some()).count();
    let mut places: Vec<&str> = active.iter().map(|done| place_of(&done.pod)).collect();
    places.sort_unstable();
    places.dedup();
    if active.is_empty() {
        return format!("Since {since}, no Pod did anything.");
    }
    let failed = match failed {
        0 => String::new(),
        count => format!("; {} failed", counted(count as u64, "run")),
    };
    let (pods, places) = (number_of(active.len(), "Pod"), number_of(places.len(), "place"));
    format!("Since {since}, {pods} worked in {places}{failed}.")
}

/// `one Pod`, `seven Pods`, `13 Pods`.
fn number_of(count: usize, one: &str) -> String {
    const WORDS: [&str; 13] =
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    match WORDS.get(count) {
        Some(word) if count == 1 => format!("{word} {one}"),
        Some(word) => format!("{word} {one}s"),
        None => counted(count as u64, one),
    }
}

/// `18:40`, `18:40 yesterday`, `18:40 on 22 Nov`.
fn since_words(now: &Zoned, since: Timestamp) -> String {
    let since = since.to_zoned(now.time_zone().clone());
    let time = since.strftime("%-H:%M");
    match now.date() == since.date() {
        true => time.to_string(),
        false if now.date().yesterday().is_ok_and(|day| day == since.date()) => format!("{time} yesterday"),
        false => format!("{time} on {}", since.strftime("%-d %b")),
    }
}

/// What today cost, where, and how much the budgets of Pods allow.
pub(super) fn cost_html(done: &[Done], spent: &UsageDay, now: &Zoned) -> String {
    let tokens = spent.input + spent.output;
    let figure = match (tokens, spent.cost) {
        (0, _) => "Nothing".to_owned(),
        (_, None) => format!("{} tokens", about_tokens(tokens, spent.estimated)),
        _ => about_cost(spent.cost, spent.currency, spent.estimated),
    };
    let said = if tokens == 0 { " used today" } else { " today" };
    let weight = |day: &UsageDay| day.cost.map_or((day.input + day.output) as f64, |cost| cost.as_f64());
    let allowance = Allowance::of(done, spent);
    // The whole bar is what may be spent, if all of it is budgeted.
    let room = allowance.filter(|allowance| allowance.is_of_all).map_or(0.0, |allowance| allowance.cost.as_f64());
    let all = weight(spent).max(room).max(f64::MIN_POSITIVE);
    let allowance = allowance.map(|allowance| allowance_view(&allowance, now));
    let mut parts: Vec<(String, UsageDay)> = folders(done)
        .into_iter()
        .map(|(folder, pods)| (name_of(&folder), sum(pods.iter().map(|(done, _)| &done.today))))
        .filter(|(_, day)| day.input + day.output > 0)
        .collect();
    parts.sort_by(|one, other| weight(&other.1).total_cmp(&weight(&one.1)));
    parts.truncate(PARTS_MAX);
    let mut left = 0.0;
    let bars = parts.iter().map(|(_, day)| {
        let width = (weight(day) / all * 100.0).min(100.0 - left);
        left += width;
        view! { <rect x=format!("{:.1}", left - width) width=format!("{width:.1}") height="6" /> }.into_any()
    });
    let bars = bars.collect_view();
    let names = parts
        .iter()
        .map(|(name, day)| {
            let cost = about_cost(day.cost, day.currency, day.estimated);
            let cost = if day.cost.is_some() { cost } else { about_tokens(day.input + day.output, day.estimated) };
            view! { <span><i class="swatch"></i>{name.clone()} " " {cost}</span> }.into_any()
        })
        .collect_view();
    let cached = percent(spent.cached, spent.input).filter(|share| *share > 0);
    let cached = cached.map(|share| view! { <small>{format!("{share} % from the cache")}</small> }.into_any());
    view! {
        <p><b>{figure}</b> {said} " " {allowance}</p>
        <svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">{bars}</svg>
        <p class="meta">{names} {cached} <a href="/usage">"Usage"</a></p>
    }
    .into_any()
    .to_html()
}

/// `of $20.00 · resets at midnight`; where not all is budgeted, with what was spent of it.
fn allowance_view(allowance: &Allowance, now: &Zoned) -> AnyView {
    let money = |cost: Cost| about_cost(Some(cost), allowance.currency, false);
    let part = if allowance.is_of_all { String::new() } else { format!("{} ", money(allowance.spent)) };
    let most = money(allowance.cost);
    let what = if allowance.is_of_all { "" } else { " budgeted" };
    let words = format!("{part}of {most}{what} · resets at {}", reset_words(now.timestamp(), now.time_zone()));
    let is_near = allowance.spent.as_f64() >= NEAR * allowance.cost.as_f64();
    let class = if is_near { "meta is-near" } else { "meta" };
    view! { <span class=class>{words}</span> }.into_any()
}

/// All rows, by folder; those that did nothing are folded.
pub(super) fn rows_html(done: &[Done], axis: Axis, zone: &TimeZone) -> String {
    let shown: Vec<Done> = done.iter().filter(|done| done.is_shown()).cloned().collect();
    let quiet: Vec<&Done> = done.iter().filter(|done| !done.is_shown()).collect();
    let ticks = axis.ticks(zone).into_iter();
    let ticks = ticks
        .map(|(words, place)| {
            let x = place / 100.0 * f64::from(SIZE.0);
            view! { <text x=format!("{x:.0}") y="12" text-anchor="middle">{words}</text> }.into_any()
        })
        .collect_view();
    let from = axis.from.to_zoned(zone.clone()).strftime("%-H:%M").to_string();
    let has_branches = shown.iter().any(|done| done.pod.git.is_some());
    let head = (!shown.is_empty()).then(|| {
        view! {
            <span class="meta">{has_branches.then_some("branch")}</span>
            <svg class="axis" width=SIZE.0 height=SIZE.1 aria-hidden="true">
                <text y="12">{from}</text>
                {ticks}
                <text x=SIZE.0 y="12" text-anchor="end">"now"</text>
            </svg>
            <span class="figure meta">"today"</span>
        }
        .into_any()
    });
    let class = if has_branches { "with-branches" } else { "without-branches" };
    let groups = folders(&shown).into_iter().map(|(folder, pods)| group(&folder, &pods, axis)).collect_view();
    let nothing = shown.is_empty().then(|| {
        view! { <p class="hint">"Nothing yet. Open a Pod and write to it, or press n for a new one."</p> }.into_any()
    });
    view! {
        <div class=class>
            <div class="rows-head"><h2>"Since you last looked"</h2> {head}</div>
            {groups}
        </div>
        {nothing}
        {quiet_view(&quiet)}
    }
    .into_any()
    .to_html()
}

fn quiet_view(quiet: &[&Done]) -> Option<AnyView> {
    (!quiet.is_empty()).then(|| {
        let words = match quiet.len() {
            1 => "1 more Pod did nothing since then".to_owned(),
            count => format!("{count} more Pods did nothing since then"),
        };
        let links = quiet.iter().map(|done| {
            let pod = &done.pod;
            view! {
                <a class="pod-row is-quiet" data-row="" href=href_of(pod)>
                    <span class="pod-name">{mark(pod)} <b>{pod.name.to_string()}</b> {state(pod)}</span>
                    <span class="did meta">{short_path(&pod.cwd)}</span>
                </a>
            }
            .into_any()
        });
        view! {
            <details class="quiet-pods">
                <summary>{words}</summary>
                <div class="pod-rows">{links.collect_view()}</div>
            </details>
        }
        .into_any()
    })
}

type Folder<'a> = (String, Vec<(&'a Done, usize)>);

/// The Pods by folder, the folder with the newest change first. A child stands beneath its parent, whatever its folder.
fn folders(done: &[Done]) -> Vec<Folder<'_>> {
    let pods: Vec<PodSummary> = done.iter().map(|done| done.pod.clone()).collect();
    let mut folders: Vec<Folder<'_>> = Vec::new();
    let mut here = String::new();
    for (pod, depth) in indented(&pods) {
        let Some(one) = done.iter().find(|done| done.pod.pod == pod.pod) else { continue };
        if depth == 0 {
            here = place_of(&pod).to_owned();
        }
        match folders.iter_mut().find(|(folder, _)| *folder == here) {
            Some((_, pods)) => pods.push((one, depth)),
            None => folders.push((here.clone(), vec![(one, depth)])),
        }
    }
    folders
}

/// The repository, so that its work trees stand together; the folder where there is none.
fn place_of(pod: &PodSummary) -> &str {
    pod.git.as_ref().map(|git| git.repository.as_str()).filter(|name| !name.is_empty()).unwrap_or(&pod.cwd)
}

/// The repository's folder for a work tree beside it, otherwise the folder itself.
fn home_of(cwd: &str) -> &str {
    cwd.split_once(".worktrees/").map_or(cwd, |(home, _)| home)
}

fn group(folder: &str, pods: &[(&Done, usize)], axis: Axis) -> AnyView {
    let rows = pods.iter().enumerate().map(|(index, (done, depth))| {
        // The line continues to the next child of the same depth.
        let is_last = pods[index + 1..].iter().find(|(_, other)| other <= depth).is_none_or(|(_, other)| other < depth);
        row(done, *depth, is_last, axis)
    });
    let path = pods.first().map(|(done, _)| short_path(home_of(&done.pod.cwd))).unwrap_or_default();
    view! {
        <h3>{name_of(folder)} " " <span class="meta">{path}</span></h3>
        <div class="pod-rows">{rows.collect_view()}</div>
    }
    .into_any()
}

fn row(done: &Done, depth: usize, is_last: bool, axis: Axis) -> AnyView {
    let pod = &done.pod;
    let class = match (depth, is_last) {
        (0, _) => "pod-row",
        (1, false) => "pod-row kid",
        (1, true) => "pod-row kid last",
        (_, false) => "pod-row kid deep",
        (_, true) => "pod-row kid deep last",
    };
    let cost = match done.today.cost {
        Some(_) => about_cost(done.today.cost, done.today.currency, done.today.estimated),
        None if done.today.input + done.today.output > 0 => {
            about_tokens(done.today.input + done.today.output, done.today.estimated)
        }
        None => String::new(),
    };
    let unread = (pod.unread > 0)
        .then(|| view! { <span class="ready">{counted(u64::from(pod.unread), "new answer")}</span> }.into_any());
    view! {
        <a class=class data-row="" href=href_of(pod)>
            <span class="pod-name">{mark(pod)} <b>{pod.name.to_string()}</b> {state(pod)}</span>
            <span class="did">{said(done)} " " {unread}</span>
            <span class="branch">{pod.git.as_ref().map(branch)}</span>
            {strip(done, axis)}
            <span class="figure">{cost}</span>
        </a>
    }
    .into_any()
}

/// The branch, and below it the lines that differ from where it began, and how far it is from there.
fn branch(git: &GitView) -> AnyView {
    let count = |class: &'static str, sign: &'static str, count: u32| {
        (count > 0).then(|| view! { <b class=class>{sign} {count}</b> }.into_any())
    };
    let (added, removed) = (count("added", "+", git.added), count("removed", "−", git.removed));
    view! {
        <code>{unseen::shown(&git.branch).into_owned()}</code>
        <small>{added} " " {removed} " " {git.state_words().join(", ")}</small>
    }
    .into_any()
}

/// The Pod's own words; what it is doing where it has said nothing.
fn said(done: &Done) -> String {
    let activity = || done.pod.activity.clone().or_else(|| done.pod.state_reason.clone()).unwrap_or_default();
    let said = if done.words.is_empty() { activity() } else { done.words.clone() };
    unseen::shown(&said).into_owned()
}

fn strip(done: &Done, axis: Axis) -> AnyView {
    let (width, height) = SIZE;
    let waits = done.waits_since.map(|at| axis.px(at).unwrap_or(0).clamp(5, width - 5));
    let waits = waits.map(|x| view! { <path class="strip-wait" d=format!("M{} 9l5-5 5 5-5 5z", x - 5) /> }.into_any());
    let failed = done.failed_at.map(|at| axis.px(at).unwrap_or(0).clamp(5, width - 5));
    let failed = failed.map(|x| view! { <path class="strip-fail" d=format!("M{} 16l5-9 5 9z", x - 5) /> }.into_any());
    view! {
        <svg class="strip" viewBox=format!("0 0 {width} {height}") width=width height=height aria-hidden="true">
            <path class="strip-base" d=format!("M0 16.5H{width}") />
            <path class="strip-work" d=axis.bars(&done.moments) />
            {waits}
            {failed}
        </svg>
    }
    .into_any()
}

/// Who answers in it: letters of our own, filled for the built-in one.
fn mark(pod: &PodSummary) -> AnyView {
    let (letters, title) = match pod.agent.as_deref() {
        None => ("y".to_owned(), "yoi".to_owned()),
        Some(agent) => (agent_letters(agent), agent.to_owned()),
    };
    let class = if pod.agent.is_none() { "who who-own" } else { "who" };
    view! { <span class=class title=title aria-hidden="true">{letters}</span> }.into_any()
}

/// Two letters of an agent's name: `cc` for `claude-code`, `op` for `opencode`.
fn agent_letters(agent: &str) -> String {
    let mut words = agent.split(['-', '_', ' ']).filter(|word| !word.is_empty());
    match (words.next(), words.next()) {
        (Some(one), Some(other)) => one.chars().take(1).chain(other.chars().take(1)).collect(),
        _ => agent.chars().take(2).collect(),
    }
}

/// Shape and word.
fn state(pod: &PodSummary) -> AnyView {
    let sign = Sign::of(pod);
    view! { <span class=format!("sign sign-{}", shape(sign))><i aria-hidden="true"></i>{sign.word()}</span> }.into_any()
}

/// The class of a sign's shape: the same shapes as the marks in the list.
fn shape(sign: Sign) -> &'static str {
    match sign {
        Sign::Failed => "fail",
        Sign::Of(PodState::Running) => "run",
        Sign::Of(PodState::Waiting) => "wait",
        Sign::Of(PodState::Paused) => "pause",
        Sign::Of(PodState::Broken) => "broken",
        Sign::Of(PodState::Unreachable) => "gone",
        Sign::Of(PodState::Idle) => "idle",
        Sign::Of(PodState::Stopped) => "stop",
    }
}

fn href_of(pod: &PodSummary) -> String {
    format!("/pods/{}/{}", pod.pod.runtime_id, pod.pod.worker_id)
}

/// The last part of a path.
fn name_of(folder: &str) -> String {
    folder.rsplit('/').find(|part| !part.is_empty()).unwrap_or(folder).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_counts_in_words_and_says_since_when() {
        let now = "2026-11-25T09:00:00Z".parse::<Timestamp>().unwrap().to_zoned(TimeZone::UTC);
        let since = |text: &str| since_words(&now, text.parse().unwrap());
        assert_eq!(since("2026-11-25T07:05:00Z"), "7:05");
        assert_eq!(since("2026-11-24T18:40:00Z"), "18:40 yesterday");
        assert_eq!(since("2026-11-22T18:40:00Z"), "18:40 on 22 Nov");
        assert_eq!(
            (number_of(1, "Pod"), number_of(7, "Pod"), number_of(13, "Pod")),
            ("one Pod".into(), "seven Pods".into(), "13 Pods".into())
        );
        assert_eq!(lede(&[], &now, now.timestamp()), "Since 9:00, no Pod did anything.");
    }

    #[test]
    fn each_state_has_a_shape_of_its_own() {
        let signs = PodState::ALL.into_iter().map(Sign::Of).chain([Sign::Failed]);
        let shapes: std::collections::BTreeSet<_> = signs.map(shape).collect();
        assert_eq!(shapes.len(), PodState::ALL.len() + 1);
    }

    #[test]
    fn agents_have_letters_and_folders_names() {
        assert_eq!((agent_letters("claude-code"), agent_letters("codex")), ("cc".to_owned(), "co".to_owned()));
        assert_eq!((name_of("/home/kim/src/yoi/"), name_of("/")), ("yoi".to_owned(), "/".to_owned()));
        assert_eq!(["/src/yoi.worktrees/a/app", "/src/yoi"].map(home_of), ["/src/yoi"; 2]);
    }
}
