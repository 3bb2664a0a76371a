//! Features that a server turns out not to support, and that are not used with it again.
//!
//! They are found by a refusal: the request is sent again without what was refused. Only if that is answered is it
//! remembered, for the life of the process, and the answer begins with an alert about what was left out.

use std::{
    collections::HashSet,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use super::{bounds::MODELS_MAX, failure::Refused};
use crate::{ModelEvent, ProviderKind};

/// How a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Manner {
    /// The wire protocol.
    pub(super) wire: ProviderKind,
    pub(super) offers_tools: bool,
}

/// What one provider is known not to support.
#[derive(Debug, Default)]
pub(super) struct Weaknesses {
    /// It speaks chat completions and not the Responses API.
    speaks_chat: AtomicBool,
    /// Models that do not support tools.
    without_tools: Mutex<HashSet<String>>,
}

impl Weaknesses {
    /// How to send requests to this model.
    pub(super) fn manner(&self, kind: ProviderKind, model: &str) -> Manner {
        let wire = match kind {
            ProviderKind::OpenAi if self.speaks_chat.load(Relaxed) => ProviderKind::OpenAiCompatible,
            kind => kind,
        };
        Manner { wire, offers_tools: !self.without_tools().contains(model) }
    }

    /// Records that a request in this manner was answered.
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
    /// How to repeat a request that was refused in this manner; `None` if a repeat would not help.
    pub(super) fn after(self, refused: &Refused, is_own_server: bool, has_tools: bool) -> Option<Self> {
        let knows_no_path = self.wire == ProviderKind::OpenAi && refused.status == 404 && !refused.is_about_model();
        if is_own_server && knows_no_path {
            return Some(Self { wire: ProviderKind::OpenAiCompatible, ..self });
        }
        (self.offers_tools && has_tools && refused.takes_no_tools()).then_some(Self { offers_tools: false, ..self })
    }

    /// The alerts for the user, once per Pod.
    pub(super) fn alerts(self, kind: ProviderKind, provider: &str, model: &str) -> Vec<ModelEvent> {
        let wire = (self.wire != kind).then(|| {
            format!(
                "The provider \"{provider}\" does not know OpenAI's Responses API; it is asked by chat completions."
            )
        });
        let tools = (!self.offers_tools).then(|| {
            format!(
                "The model \"{model}\" of \"{provider}\" takes no tools; it is asked without them, and can only talk."
            )
        });
        wire.into_iter().chain(tools).map(|text| ModelEvent::Alert { text }).collect()
    }
}
