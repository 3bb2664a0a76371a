//! A whole transcript on one page, as plain HTML: to print, to read without a script, to keep. Nothing on it needs a
//! script, so none is loaded; the server renders it and the browser never hydrates it.

#[cfg(feature = "ssr")]
mod blocks;
#[cfg(feature = "ssr")]
mod document;

use leptos::{config::LeptosOptions, prelude::*};
use leptos_router::hooks::{use_params_map, use_query_map};
use protocol::Seq;

use crate::boot::{self, ICON};

/// `/pods/{runtime_id}/{worker_id}/print`, with `?from=SEQ&to=SEQ` for a part of it.
#[component]
pub(crate) fn PrintPage() -> impl IntoView {
    let part = |name: &str| use_params_map().with_untracked(|params| params.get(name).unwrap_or_default());
    let seq = |name: &str| use_query_map().with_untracked(|query| query.get(name)?.parse().ok().map(Seq));
    drawn(format!("{}/{}", part("runtime_id"), part("worker_id")), seq("from"), seq("to"))
}

#[cfg(feature = "ssr")]
use self::document::drawn;

/// In the browser, a link that loads this page from the server.
#[cfg(not(feature = "ssr"))]
fn drawn(address: String, _from: Option<Seq>, _to: Option<Seq>) -> AnyView {
    view! {
        <a href=format!("/pods/{address}/print") rel="external">
            "Load this page"
        </a>
    }
    .into_any()
}

/// Whether this path is the print page.
pub(crate) fn is_print(path: &str) -> bool {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    matches!(parts.as_slice(), ["pods", _, _, "print"])
}

/// Goes into the head in place of [`Boot`](crate::boot::Boot): the style sheet, and no script.
#[component]
pub(crate) fn PrintStyle(options: LeptosOptions) -> impl IntoView {
    let style = format!("/{}/{}.css", options.site_pkg_dir.trim_matches('/'), options.output_name);
    view! {
        <link rel="icon" href=ICON />
        {(!boot::is_bare(&options)).then(|| view! { <link rel="stylesheet" href=style /> }.into_any())}
    }
}

#[cfg(test)]
mod tests {
    use super::is_print;

    #[test]
    fn only_the_page_below_a_pod_is_printed() {
        assert!(is_print("/pods/local/ada/print") && is_print("/pods/local/ada/print/"));
        for path in ["/pods/local/print", "/pods/local/ada", "/pods/local/ada/with/print", "/print", "/"] {
            assert!(!is_print(path), "{path}");
        }
    }
}
