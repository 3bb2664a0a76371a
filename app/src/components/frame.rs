//! What is around every page: the bar on top, the list of Pods, dialogs, notices, keys.

use commands::{Topic, grouped};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::{use_location, use_navigate};

use crate::{
    components::{
        asking::Asking, bottom_bar::BottomBar, dialogs::Dialogs, notices::Notices, pods_pane::PodsPane, top_bar::TopBar,
    },
    console::{Console, Dialog, Introduction, pod_of_path, use_console},
    keys::{KeyReader, Shortcut},
    live::{self, KeyPress},
    server_fns::list_pods,
};

/// The list that came with the page. Read by all who draw Pods before the stream has said anything.
pub(crate) type PodsResource = Resource<Result<Vec<protocol::PodSummary>, crate::UiError>>;

#[component]
pub(crate) fn Frame(children: Children) -> impl IntoView {
    let console = use_console();
    let pods: PodsResource = Resource::new(|| (), |()| list_pods());
    provide_context(pods);
    listen(console);
    let title = move || match console.needing() {
        0 => "yoi".to_owned(),
        count => format!("({count}) yoi"),
    };
    view! {
        <Title formatter=move |page: String| if page.is_empty() { title() } else { format!("{page} · {}", title()) } text="" />
        <a class="skip" href="#main">
            "Skip to the content"
        </a>
        <div class="frame" class:is-stale=move || console.stale_since.with(Option::is_some)>
            <TopBar />
            <PodsPane />
            {children()}
            <BottomBar />
        </div>
        <Asking />
        <Notices />
        <Dialogs />
    }
    .into_any()
}

/// Connects the page and its keys, once, in the browser.
fn listen(console: Console) {
    let navigate = use_navigate();
    let path = use_location().pathname;
    Effect::new(move |before: Option<()>| {
        if before.is_some() {
            return;
        }
        live::connect(console);
        let reader = StoredValue::new(KeyReader::default());
        let navigate = navigate.clone();
        live::on_key(move |press| {
            let Some(shortcut) = shortcut_of(&press, reader) else { return false };
            match shortcut {
                Shortcut::NewPod => console.dialog.set(Some(Dialog::NewPod { name: String::new() })),
                Shortcut::Help => console.dialog.set(Some(Dialog::Help(Topic::Keys))),
                Shortcut::Peer => introduce(console, &path.get_untracked()),
                Shortcut::GoPods => navigate("/", Default::default()),
                Shortcut::GoMap => navigate("/map", Default::default()),
                Shortcut::GoApprovals => navigate("/approvals", Default::default()),
                Shortcut::Question => {
                    if !live::next_question() {
                        navigate("/approvals", Default::default());
                    }
                }
                Shortcut::GoEnd => live::log_to_end(),
                Shortcut::Move(step) => live::move_row(step),
                Shortcut::Turn(step) => live::log_to_turn(step),
                Shortcut::Find => live::focus("filter"),
                Shortcut::Command => live::focus("message"),
                Shortcut::Back => live::blur(),
            }
            // The colon itself is the first character of the command.
            shortcut != Shortcut::Command
        });
    });
}

/// The Pod of this page to another one; elsewhere the one whose row has the focus, or the first, and both are asked for.
fn introduce(console: Console, path: &str) {
    let here = pod_of_path(path);
    let chooses_source = here.is_none();
    let in_focus = || live::row_in_focus().and_then(|href| pod_of_path(&href));
    let first = || Some(grouped(&console.pods(), "").into_iter().next()?.1.into_iter().next()?.pod);
    match here.or_else(in_focus).or_else(first) {
        Some(source) => {
            let introduction = Introduction { source, chooses_source, target: String::new() };
            console.dialog.set(Some(Dialog::Peer(introduction)));
        }
        None => console.note("There is no Pod yet that could be introduced. Press n to make one."),
    }
}

fn shortcut_of(press: &KeyPress, reader: StoredValue<KeyReader>) -> Option<Shortcut> {
    if press.in_dialog || (press.in_field && press.key != "Escape") {
        return None;
    }
    let mut keys = reader.get_value();
    let shortcut = keys.read(&press.key);
    reader.set_value(keys);
    shortcut
}
