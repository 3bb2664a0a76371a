//! A folder on the machine where a Pod will be: suggests folders that Pods already work in, and completes a path.

use commands::making::recent_folders;
use leptos::{prelude::*, task::spawn_local};
use protocol::RuntimeId;

use crate::{
    components::combobox::{Combobox, Item},
    console::use_console,
    live,
    server_fns::find_folders,
};

/// How long typing must pause before the server is asked, in milliseconds.
const REST_MS: u32 = 120;

/// One folder. Where no list is available, the path is taken as typed.
#[component]
pub(super) fn FolderField(
    #[prop(into)] id: String,
    label: &'static str,
    #[prop(optional)] is_bare: bool,
    value: RwSignal<String>,
    #[prop(into)] placeholder: Signal<String>,
    #[prop(optional)] hint: &'static str,
    /// The runtime where the Pod will be; `None` for this server.
    runtime: Signal<Option<RuntimeId>>,
) -> impl IntoView {
    let console = use_console();
    let (found, number) = (RwSignal::new(Vec::<String>::new()), StoredValue::new(0_u32));
    let on_typed = Callback::new(move |()| {
        let begun = value.get_untracked();
        number.update_value(|number| *number += 1);
        let asked = number.get_value();
        if !begun.starts_with('/') {
            return;
        }
        live::after(REST_MS, move || {
            if number.try_get_value() != Some(asked) {
                return;
            }
            let runtime = runtime.get_untracked();
            spawn_local(async move {
                let folders = find_folders(Some(begun), runtime).await.map(|list| list.items).unwrap_or_default();
                if number.try_get_value() == Some(asked) {
                    found.try_set(folders);
                }
            });
        });
    });
    let items = Memo::new(move |_| {
        let recent = || {
            let runtime = runtime.get().unwrap_or_else(RuntimeId::local);
            console.with_pods(|pods| recent_folders(pods, &runtime))
        };
        value.with(|typed| found.with(|found| fitting(typed, found, recent)))
    });
    view! {
        <Combobox
            id=id
            label=label
            is_bare=is_bare
            value=value
            placeholder=placeholder
            hint=hint
            items=items
            on_typed=on_typed
        />
    }
}

/// Results for the previous letters stay, as far as they match, until those for the current ones arrive.
fn fitting(typed: &str, found: &[String], recent: impl FnOnce() -> Vec<String>) -> Vec<Item> {
    let typed = typed.trim().to_lowercase();
    if typed.starts_with('/') {
        let fits = found.iter().filter(|path| path.to_lowercase().starts_with(&typed));
        return fits.map(|path| Item { text: format!("{path}/"), what: String::new() }).collect();
    }
    let recent = recent().into_iter().filter(|path| path.to_lowercase().contains(&typed));
    recent.map(|text| Item { text, what: "a Pod works there".to_owned() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_completed_and_other_letters_find_the_folders_of_pods() {
        let (found, recent) = (["/srv/app".to_owned(), "/srv/web".to_owned()], || vec!["/work/yoi".to_owned()]);
        let texts =
            |typed: &str| -> Vec<_> { fitting(typed, &found, recent).into_iter().map(|item| item.text).collect() };
        assert_eq!(texts("/srv/A"), ["/srv/app/"]);
        assert_eq!(texts(""), ["/work/yoi"]);
        assert_eq!(texts("yo"), ["/work/yoi"]);
        assert!(texts("/home").is_empty() && texts("nothing").is_empty());
    }
}
