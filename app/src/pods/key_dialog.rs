//! A key for a model provider: tested at once, stored by the server, never shown again.

use leptos::prelude::*;
use protocol::{GiveKey, ProviderView};

use crate::{
    components::{deed::Deed, dialog::FormDialog, text_field::TextField},
    console::{Console, use_console},
    format::counted,
    live,
    redrawn::redrawn,
    server_fns::set_key,
};

/// The choices: the server's name, the display name, and the kind of each vendor.
const VENDORS: [(&str, &str, &str); 5] = [
    ("openai", "OpenAI", "openai"),
    ("anthropic", "Anthropic", "anthropic"),
    ("gemini", "Google Gemini", "gemini"),
    ("openrouter", "OpenRouter", "openai-compatible"),
    (OTHER, "Another server (OpenAI-compatible)", "openai-compatible"),
];

/// What happens to a key.
pub(super) const KEPT: &str = "The server asks the vendor for its models with this key. If that works, it stores the key in its data folder, readable only by its owner, and never shows it again.";

/// The choice of a vendor with its own name and address.
const OTHER: &str = "";

/// The fields of a key. They stay when the vendor refuses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyForm {
    vendor: RwSignal<String>,
    name: RwSignal<String>,
    base_url: RwSignal<String>,
    key: RwSignal<String>,
    pub(super) deed: Deed,
    works: RwSignal<Option<ProviderView>>,
    console: Console,
}

impl KeyForm {
    pub(super) fn new() -> Self {
        let empty = || RwSignal::new(String::new());
        Self {
            vendor: RwSignal::new(VENDORS[0].0.to_owned()),
            name: empty(),
            base_url: empty(),
            key: empty(),
            deed: Deed::default(),
            works: RwSignal::new(None),
            console: use_console(),
        }
    }

    fn is_other(self) -> bool {
        self.vendor.with(|vendor| vendor == OTHER)
    }

    /// The provider's name and the request. Replacing a key leaves the rest of the provider's settings as they are.
    fn given(self, provider: Option<&str>) -> (String, GiveKey) {
        let text = |field: RwSignal<String>| field.get_untracked().trim().to_owned();
        let key = text(self.key);
        if let Some(provider) = provider {
            return (provider.to_owned(), GiveKey { kind: None, base_url: None, key });
        }
        let vendor = text(self.vendor);
        let kind = VENDORS.iter().find(|known| known.0 == vendor).map(|known| known.2.to_owned());
        match vendor.as_str() {
            OTHER => (text(self.name), GiveKey { kind, base_url: Some(text(self.base_url)), key }),
            _ => (vendor, GiveKey { kind, base_url: None, key }),
        }
    }

    /// Tests and stores the key. The fields are cleared if it works.
    pub(super) fn submit(self, provider: Option<&str>, kept: impl FnOnce() + 'static) {
        let (name, given) = self.given(provider);
        self.deed.begin(Box::pin(async move {
            let tried = set_key(name, given).await?;
            self.key.try_set(String::new());
            self.works.try_set(Some(tried));
            self.console.keys_changed.update(|count| *count += 1);
            kept();
            Ok(())
        }));
    }

    /// The progress or the result of the test.
    pub(super) fn told(self) -> AnyView {
        match (self.deed.is_busy.get(), self.works.get()) {
            (true, _) => view! { <span class="hint">"testing, up to 10 s…"</span> }.into_any(),
            (false, Some(provider)) => {
                view! { <span class="verdict is-good">{works_words(&provider)}</span> }.into_any()
            }
            (false, None) => ().into_any(),
        }
    }
}

/// Takes a key for a provider chosen here, or a replacement for the given provider's.
#[component]
pub(crate) fn KeyDialog(provider: Option<String>) -> impl IntoView {
    let form = KeyForm::new();
    let title = match &provider {
        Some(provider) => format!("Another key for {provider}"),
        None => "Add a key".to_owned(),
    };
    let is_chosen = provider.is_none();
    let submit = Callback::new(move |()| form.submit(provider.as_deref(), || live::focus("give-key-cancel")));
    let is_over = Signal::derive(move || form.works.with(Option::is_some));
    view! {
        <FormDialog id="give-key" title=title submit="Test and keep" deed=form.deed is_over=is_over on_submit=submit>
            <p class="hint">{KEPT}</p>
            <div class="group" class:is-hidden=move || is_over.get()>
                {is_chosen.then(|| view! { <VendorFields form=form /> }.into_any())}
                <KeyField form=form />
            </div>
            <p role="status">{redrawn(move || form.told())}</p>
        </FormDialog>
    }
}

#[component]
pub(crate) fn KeyField(form: KeyForm) -> impl IntoView {
    view! {
        <TextField
            id="give-key-key"
            label="Key"
            kind="password"
            value=form.key
            hint="The vendor shows it once, when it creates the key."
            autocomplete="off"
        />
    }
}

#[component]
pub(crate) fn VendorFields(form: KeyForm) -> impl IntoView {
    let option = |(name, words, _): (&'static str, &'static str, &'static str)| {
        view! { <option value=name>{words}</option> }.into_any()
    };
    let own = move || {
        form.is_other().then(|| {
            view! {
                <TextField id="give-key-name" label="Name" value=form.name hint="Its name here: A-Z a-z 0-9 . _ -" autocomplete="off" />
                <TextField
                    id="give-key-url"
                    label="Address"
                    kind="url"
                    value=form.base_url
                    hint="Up to the version, as in https://host/v1. The key is sent there."
                    autocomplete="off"
                />
            }
            .into_any()
        })
    };
    view! {
        <div class="field">
            <label for="give-key-vendor">"Vendor"</label>
            <select id="give-key-vendor" on:change=move |event| form.vendor.set(event_target_value(&event))>
                {VENDORS.map(option).collect_view()}
            </select>
        </div>
        {redrawn(own)}
    }
}

fn works_words(provider: &ProviderView) -> String {
    let models = counted(provider.models.len() as u64, "model");
    let used = if provider.default { " New Pods use it." } else { "" };
    format!("✓ {} works: {models}.{used}", provider.name)
}
