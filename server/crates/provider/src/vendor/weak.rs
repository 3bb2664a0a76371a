//! What a server turns out not to know, and is not asked of it again.
//!
//! It is found by a refusal: the question is put again without what was refused. Only when that is answered is it remembered, as
//! long as the process lives, and each answer says first what it had to do without.

use std::{
    collections::HashSet,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use super::{bounds::MODELS_MAX, failure::Refused};
use crate::{ModelEvent, ProviderKind};

/// How a question is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Manner {
    /// The wire that is spoken.
    pub(super) wire: ProviderKind,
    pub(super) offers_tools: bool,
}

/// What one provider is known not to know.
#[derive(Debug, Default)]
pub(super) struct Weaknesses {
    /// It speaks chat completions, and not the Responses API.
    speaks_chat: AtomicBool,
    /// Models that take no tools.
    without_tools: Mutex<HashSet<String>>,
}

impl Weaknesses {
    /// How this model of a provider of this kind is asked.
    pub(super) fn manner(&self, kind: ProviderKind, model: &str) -> Manner {
        let wire = match kind {
            ProviderKind::OpenAi if self.speaks_chat.load(Relaxed) => ProviderKind::OpenAiCompatible,
            kind => kind,
        };
        Manner { wire, offers_tools: !self.without_tools().contains(model) }
    }

    /// A question that was put like this was answered.
    pub(super) fn remember(&self, kind: ProviderKind, model: &str, manner: Manner) {
        if manner.wire != kind {
            self.speaks_chat.store(true, Relaxed);
        }
        if !manner.offers_tools {
            let mut models = self.without_tools();
            if models.len() < MODELS_MAX {
                models.insert(model.to_owned());
            }
        }
    }

    fn without_tools(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.without_tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Manner {
    /// How a question is put again that was refused like this; none where that would change nothing.
    pub(super) fn after(self, refused: &Refused, is_own_server: bool, has_tools: bool) -> Option<Self> {
        let knows_no_path = self.wire == ProviderKind::OpenAi && refused.status == 404 && !refused.is_about_model();
        if is_own_server && knows_no_path {
            return Some(Self { wire: ProviderKind::OpenAiCompatible, ..self });
        }
        (self.offers_tools && has_tools && refused.takes_no_tools()).then_some(Self { offers_tools: false, ..self })
    }

    /// What the person is told of it, once in each Pod.
    pub(super) fn alerts(self, kind: ProviderKind, provider: &str, model: &str) -> Vec<ModelEvent> {
        let wire = (self.wire != kind).then(|| {
            format!("The provider \"{provider}\" does not support OpenAI's Responses API; yoi uses chat completions.")
        });
        let tools = (!self.offers_tools).then(|| {
            format!(
                "The model \"{model}\" of \"{provider}\" does not support tools; yoi calls it without them, so it can only talk."
            )
        });
        wire.into_iter().chain(tools).map(|text| ModelEvent::Alert { text }).collect()
    }
}
