use commands::{Client, Entry, Here, TABLE};
use leptos::prelude::*;

use crate::{
    components::dialog::Modal,
    keys::{self, Line},
    live,
};

/// All keys, and all commands with their descriptions.
#[component]
pub(crate) fn HelpDialog() -> impl IntoView {
    let browser = Here { client: Client::Browser, pod: None };
    let commands = TABLE.iter().filter(move |entry| browser.has(entry.place));
    let groups = keys::sheet().into_iter().map(|(title, lines)| {
        view! {
            <section>
                <h3>{title}</h3>
                <dl class="keys">{lines.into_iter().map(key_line).collect_view()}</dl>
            </section>
        }
        .into_any()
    });
    view! {
        <Modal id="help" title="Keys and commands".to_owned()>
            <div class="sheet" tabindex="0">
                {groups.collect_view()}
                <section>
                    <h3>"Commands, in the message or in the palette"</h3>
                    <dl class="keys">{commands.map(command_line).collect_view()}</dl>
                </section>
            </div>
            <div class="acts">
                <button class="button" type="button" on:click=|_| live::close_dialog("help")>
                    "Close"
                </button>
            </div>
        </Modal>
    }
}

fn key_line((keys, meaning): Line) -> AnyView {
    let keys = keys.split("  ").map(|key| view! { <kbd>{key}</kbd> }.into_any()).collect_view();
    view! {
        <dt>{keys}</dt>
        <dd>{meaning}</dd>
    }
    .into_any()
}

fn command_line(entry: &'static Entry) -> AnyView {
    view! {
        <dt>
            <code>":" {entry.word} " " <i>{entry.argument}</i></code>
        </dt>
        <dd>{entry.what}</dd>
    }
    .into_any()
}
