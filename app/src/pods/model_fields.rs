//! The choice of a model: provider, model, thinking level.

use commands::making::{Defaults, facts_of};
use leptos::prelude::*;
use protocol::{ModelFacts, ModelView, ProfileView, ProviderView, Thinking};
use transcript::words::model_words;

use crate::{
    components::combobox::{Combobox, Item},
    redrawn::redrawn,
};

/// The chosen provider, model and thinking level. An empty field is no choice.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ModelChoice {
    provider: RwSignal<String>,
    model: RwSignal<String>,
    thinking: RwSignal<String>,
    /// The Pod's present provider and model, if it exists already.
    pub(crate) instead_of: StoredValue<Option<(String, String)>>,
}

impl ModelChoice {
    /// Provider, model, thinking; `None` for an empty field.
    pub(crate) fn read(self) -> (Option<String>, Option<String>, Option<Thinking>) {
        let given =
            |field: RwSignal<String>| Some(field.get_untracked().trim().to_owned()).filter(|text| !text.is_empty());
        (given(self.provider), given(self.model), given(self.thinking).and_then(|level| level.parse().ok()))
    }

    /// Whether this is the provider that would serve the model.
    fn is_of(self, provider: &ProviderView, usual: &Defaults) -> bool {
        match (self.provider.get().as_str(), self.instead_of.get_value()) {
            ("", Some((present, _))) => provider.name == present,
            ("", None) => Some(&provider.name) == usual.provider.as_ref(),
            (chosen, _) => provider.name == chosen,
        }
    }

    /// The facts about the model that would be used; `None` if its provider does not list it.
    fn facts(self, providers: &[ProviderView], usual: &Defaults) -> Option<ModelFacts> {
        let (typed, present) = (self.model.get(), self.instead_of.get_value());
        let of = providers.iter().find(|provider| self.is_of(provider, usual))?;
        let model = match (typed.trim(), present) {
            ("", Some((_, model))) if self.provider.get().is_empty() => model,
            ("", Some(_)) => of.models.first()?.name.clone(),
            ("", None) => usual.model.clone()?,
            (typed, _) => typed.to_owned(),
        };
        facts_of(providers, &of.name, &model).cloned()
    }

    /// Clears all choices.
    pub(crate) fn clear(self) {
        [self.provider, self.model, self.thinking].into_iter().for_each(|field| field.set(String::new()));
    }
}

/// Provider, model and thinking. Any model name may be typed; the list only helps, and says what is known about each
/// model and from which source.
#[component]
pub(crate) fn ModelFields(
    id: &'static str,
    choice: ModelChoice,
    /// The providers to choose from.
    #[prop(into)]
    found: Signal<Vec<ProviderView>>,
    /// The profile of a Pod that is being made.
    #[prop(optional, into)]
    profile: MaybeProp<ProfileView>,
    /// Whether these providers are those of the server where the Pod is.
    #[prop(default = Signal::stored(true))]
    is_known: Signal<bool>,
) -> impl IntoView {
    let is_change = choice.instead_of.with_value(Option::is_some);
    let usual = Memo::new(move |_| {
        let said = Some(choice.provider.get()).filter(|name| !name.is_empty());
        Defaults::of(&found.get(), profile.get().as_ref(), said.as_deref())
    });
    let items = Memo::new(move |_| {
        let typed = choice.model.get().trim().to_lowercase();
        let of = found
            .get()
            .into_iter()
            .filter(|provider| is_known.get() && usual.with(|usual| choice.is_of(provider, usual)));
        let line = |model: ModelView| Item { what: model_words(&model.facts), text: model.name };
        let fits = |item: &Item| item.text.to_lowercase().contains(&typed);
        of.flat_map(|provider| provider.models).map(line).filter(fits).collect::<Vec<_>>()
    });
    let facts = Memo::new(move |_| choice.facts(&found.get(), &usual.get()).filter(|_| is_known.get()));
    let placeholder = move || match (is_change, choice.provider.with(String::is_empty), is_known.get()) {
        (true, true, _) => "as it is".to_owned(),
        (_, _, false) => "default: that server's".to_owned(),
        _ => usual.with(|usual| usual.model.as_ref().map(|model| format!("default: {model}")).unwrap_or_default()),
    };
    view! {
        <ProviderField id=id choice=choice found=found usual=usual is_known=is_known />
        <Combobox
            id=format!("{id}-model")
            label="Model"
            value=choice.model
            placeholder=Signal::derive(placeholder)
            hint="Any name that the provider knows."
            items=items
        />
        <small class="hint" role="status">
            {redrawn(move || facts.with(|facts| facts.as_ref().map(model_words)))}
        </small>
        <ThinkingField id=id choice=choice facts=facts usual=usual />
    }
}

/// The provider: a choice of those found, or any name where they are not known.
#[component]
fn ProviderField(
    id: &'static str,
    choice: ModelChoice,
    found: Signal<Vec<ProviderView>>,
    usual: Memo<Defaults>,
    is_known: Signal<bool>,
) -> impl IntoView {
    let field = format!("{id}-provider");
    let is_change = choice.instead_of.with_value(Option::is_some);
    let unchanged = move || match (is_change, choice.provider.with(String::is_empty)) {
        (true, _) => "as it is".to_owned(),
        (false, true) => {
            usual.with(|usual| format!("default: {}", usual.provider.as_deref().unwrap_or("the first one")))
        }
        (false, false) => "default".to_owned(),
    };
    let options = move || {
        let option = |provider: ProviderView| {
            let words = match provider.missing.is_some() {
                true => format!("{} (not ready)", provider.name),
                false => format!("{} ({})", provider.name, provider.source),
            };
            let is_it = choice.provider.with_untracked(|chosen| *chosen == provider.name);
            view! { <option value=provider.name.clone() selected=is_it>{words}</option> }.into_any()
        };
        found.get().into_iter().map(option).collect_view()
    };
    view! {
        <div class="field">
            <label for=field.clone()>"Provider"</label>
            {redrawn(move || match is_known.get() {
                true => view! {
                    <select id=field.clone() on:change=move |event| choice.provider.set(event_target_value(&event))>
                        <option value="">{redrawn(unchanged)}</option>
                        {redrawn(options)}
                    </select>
                }.into_any(),
                false => view! {
                    <input
                        id=field.clone()
                        type="text"
                        placeholder="default: that server's"
                        prop:value=move || choice.provider.get()
                        on:input=move |event| choice.provider.set(event_target_value(&event))
                    />
                }.into_any(),
            })}
        </div>
    }
}

/// For an unknown model, every level can be tried.
#[component]
fn ThinkingField(
    id: &'static str,
    choice: ModelChoice,
    facts: Memo<Option<ModelFacts>>,
    usual: Memo<Defaults>,
) -> impl IntoView {
    let field = format!("{id}-thinking");
    let is_change = choice.instead_of.with_value(Option::is_some);
    let unchanged = move || match (is_change, usual.with(|usual| usual.thinking)) {
        (true, _) => "as it is".to_owned(),
        (false, Some(level)) => format!("default: {level}"),
        (false, None) => "default: the model's own".to_owned(),
    };
    let levels = Memo::new(move |_| {
        facts
            .with(|facts| facts.as_ref().and_then(|facts| facts.thinking.clone()))
            .unwrap_or_else(|| Thinking::ALL.to_vec())
    });
    let option = |level: Thinking| view! { <option value=level.as_str()>{level.as_str()}</option> }.into_any();
    view! {
        <div class="field">
            <label for=field.clone()>"Thinking"</label>
            <select id=field on:change=move |event| choice.thinking.set(event_target_value(&event))>
                <option value="">{redrawn(unchanged)}</option>
                {redrawn(move || levels.get().into_iter().map(option).collect_view())}
            </select>
        </div>
    }
}
