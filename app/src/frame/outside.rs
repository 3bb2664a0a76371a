use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use protocol::{OpenRequest, PodSummary};

use crate::{
    console::{pod_href, use_console},
    live::{self, Memory},
    notify::{Kind, News, Wanted, asked, news},
};

/// The storage key for which notifications are wanted.
const WANTED: &str = "yoi:notices";

pub(crate) fn wanted() -> Wanted {
    Wanted::parse(&live::kept(Memory::Local, WANTED).unwrap_or_default())
}

pub(crate) fn keep_wanted(wanted: &Wanted) {
    live::remember(Memory::Local, WANTED, Some(wanted.text()).filter(|_| !wanted.is_empty()).as_deref());
}

/// Shows browser notifications for what happens while the page has no attention. Draws nothing.
#[component]
pub(crate) fn Outside() -> impl IntoView {
    let console = use_console();
    let navigate = use_navigate();
    let tell = StoredValue::new(move |due: Vec<News>| {
        let wanted = wanted();
        for news in due.into_iter().filter(|news| wanted.has(news.kind)) {
            let navigate = navigate.clone();
            let href = if news.kind == Kind::Asked { "/approvals".to_owned() } else { pod_href(&news.pod) };
            live::notify(&news.words, &news.tag(), move || navigate(&href, Default::default()));
        }
    });
    // What happens while the page has attention has been seen, and is not news later.
    let is_due = || !live::has_attention();
    Effect::new(move |before: Option<Option<Vec<PodSummary>>>| {
        let now = console.book.with(|book| book.as_ref().map(|book| book.pods().to_vec()));
        if let Some(now) = now.as_deref().filter(|_| is_due()) {
            tell.with_value(|tell| tell(news(before.flatten().as_deref(), now)));
        }
        now
    });
    Effect::new(move |before: Option<Option<Vec<OpenRequest>>>| {
        let now = console.requests.get();
        if let Some(now) = now.as_deref().filter(|_| is_due()) {
            tell.with_value(|tell| tell(asked(before.flatten().as_deref(), now)));
        }
        now
    });
}
