//! The logins, and the token that allows them.

use leptos::prelude::*;
use protocol::SessionView;

use super::{Section, client::client_words};
use crate::{
    components::{
        deed::{Deed, DeedButton},
        problem::Problem,
        when::{Since, TimeOfDay},
    },
    live,
    redrawn::redrawn,
    server_fns::sign_out,
};

#[component]
pub(crate) fn SessionsSection(sessions: Vec<SessionView>) -> impl IntoView {
    let has_this = sessions.iter().any(|session| session.is_this);
    let sessions = RwSignal::new(sessions);
    let deed = Deed::default();
    let others =
        Memo::new(move |_| sessions.with(|sessions| sessions.iter().filter(|session| !session.is_this).count()));
    let all = if has_this { "Sign out all others" } else { "Sign out all" };
    let end_others = move |_| end(deed, sessions, None, false);
    view! {
        <Section id="sessions" title="Sessions and tokens">
            <p class="hint">"Logged-in browsers. Signing one out closes its pages at once."</p>
            <SharedHost />
            <ul class="lines">
                <For each=move || sessions.get() key=|session| session.id.clone() let:session>
                    <SessionLine session=session sessions=sessions deed=deed />
                </For>
            </ul>
            {redrawn(move || sessions.with(Vec::is_empty).then(|| view! { <p>"No browser is logged in."</p> }.into_any()))}
            <p role="status">
                {redrawn(move || (has_this && others.get() == 0).then_some("No other browser is logged in."))}
            </p>
            <Problem error=deed.error />
            <p class="setting-acts">
                <button
                    class="button"
                    class:is-hidden=move || others.get() == 0
                    type="button"
                    aria-disabled=move || deed.is_busy.get().to_string()
                    on:click=end_others
                >
                    {all}
                </button>
            </p>
            <h3>"The token"</h3>
            <p>
                "It is never shown here. On the server's machine, " <code>"yoi token"</code>
                " prints it, and " <code>"yoi open"</code>
                " opens a logged-in browser. Programs send it as " <code>"Authorization: Bearer TOKEN"</code>
                ". To change it, stop yoi, remove the file " <code>"token"</code>
                " from its data folder (or set another " <code>"YOI_TOKEN"</code>
                "), and start it again. Browsers stay logged in until they are signed out here."
            </p>
        </Section>
    }
}

/// Host names that all servers on a machine share; with `--allow-host` the console can be reached under one of them.
const SHARED_HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Explains the consequence of using a shared host name. Only the browser knows the address.
#[component]
fn SharedHost() -> impl IntoView {
    let shared = RwSignal::new(None::<String>);
    Effect::new(move |_| shared.set(Some(live::host_name()).filter(|host| SHARED_HOSTS.contains(&host.as_str()))));
    let told = move |host: String| {
        view! {
            <p role="note">
                "This console is kept on " <code>{host}</code> " by " <code>"--allow-host"</code>
                ". Any other server on that machine that you open under this name gets its login cookie. Without that \
                option the console has its own name."
            </p>
        }
        .into_any()
    };
    redrawn(move || shared.get().map(told))
}

#[component]
fn SessionLine(session: SessionView, sessions: RwSignal<Vec<SessionView>>, deed: Deed) -> impl IntoView {
    let client = client_words(&session.client);
    let label = format!("Sign out {client}");
    let SessionView { id, is_this, .. } = session;
    view! {
        <li class="line">
            <p>
                <span class="client" title=session.client>{client}</span>
                " "
                {is_this.then(|| view! { <span class="tag">"this one"</span> }.into_any())}
                <small>
                    "since " <TimeOfDay at=session.created_at /> " · seen " <Since at=session.seen_at /> " · ends "
                    <TimeOfDay at=session.expires_at />
                </small>
            </p>
            <DeedButton
                deed=deed
                label=label
                words="Sign out"
                press=move || end(deed, sessions, Some(id.clone()), is_this)
            />
        </li>
    }
}

/// Ends one login, or all but this one; ending this one leads to the login page.
fn end(deed: Deed, sessions: RwSignal<Vec<SessionView>>, id: Option<String>, is_this: bool) {
    deed.begin(Box::pin(async move {
        let left = sign_out(id).await?;
        if is_this {
            live::go_to_login();
        }
        sessions.try_set(left);
        Ok(())
    }));
}
