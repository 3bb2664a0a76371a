//! Browser notifications, where the browser has them.

use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Notification, NotificationOptions, NotificationPermission};

use super::browser::{document, window};
use crate::notify::Means;

/// Whether this page has the user's attention.
pub(crate) fn has_attention() -> bool {
    document().has_focus().unwrap_or(true)
}

/// Whether notifications are possible here, without asking for permission.
pub(crate) fn notice_means() -> Means {
    let has_them = js_sys::Reflect::has(&window(), &JsValue::from_str("Notification")).unwrap_or(false);
    match (has_them, window().is_secure_context()) {
        (_, false) => Means::Insecure,
        (false, true) => Means::Missing,
        (true, true) => means(Notification::permission()),
    }
}

fn means(permission: NotificationPermission) -> Means {
    match permission {
        NotificationPermission::Granted => Means::Granted,
        NotificationPermission::Denied => Means::Denied,
        _ => Means::Askable,
    }
}

/// Asks for permission through the browser. `told` receives the outcome.
pub(crate) fn ask_for_notices(told: impl FnOnce(Means) + 'static) {
    let Ok(asked) = Notification::request_permission() else { return told(Means::Missing) };
    spawn_local(async move {
        let _ = JsFuture::from(asked).await;
        told(notice_means());
    });
}

/// Shows a notification; `lead` runs when it is clicked. A newer one with the same tag replaces it. Returns false if
/// the browser shows none after all: some allow them only for installed pages.
pub(crate) fn notify(words: &str, tag: &str, lead: impl FnOnce() + 'static) -> bool {
    let options = NotificationOptions::new();
    options.set_tag(tag);
    let Ok(notice) = Notification::new_with_options(words, &options) else { return false };
    let shown = notice.clone();
    let lead = Closure::once_into_js(move || {
        let _ = window().focus();
        shown.close();
        lead();
    });
    notice.set_onclick(Some(lead.unchecked_ref()));
    true
}
