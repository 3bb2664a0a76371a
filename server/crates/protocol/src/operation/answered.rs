//! The answers of operations, and their form on the wire.

use serde::{Serialize, de::DeserializeOwned};

use super::Page;
use crate::{ApiError, Gathered, Introduced, Listing, PeerAnswer, PeerLink};

/// An answer that can be sent and received.
pub trait Answered: Sized + Send + Serialize + DeserializeOwned {
    /// The HTTP status of this answer, if it is not the operation's usual one.
    fn status(&self, usual: u16) -> u16 {
        usual
    }

    /// The body as JSON; `None` where the status says everything.
    fn body(&self) -> Option<String> {
        Some(serde_json::to_string(self).expect("protocol types always encode"))
    }

    /// # Errors
    /// If the JSON does not fit.
    fn read(_status: u16, body: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(body)
    }

    /// The requested page, for a list that has pages.
    ///
    /// # Errors
    /// `cursor_invalid` if the page is not one of this list.
    fn paged(self, _: &Page) -> Result<Self, ApiError> {
        Ok(self)
    }

    #[cfg(feature = "openapi")]
    fn describe(facts: &super::Facts, description: &mut super::Description);
}

/// Answers that are sent as they are.
macro_rules! plain {
    ($($kind:ty),* $(,)?) => {
        $(impl Answered for $kind {
            #[cfg(feature = "openapi")]
            fn describe(facts: &super::Facts, description: &mut super::Description) {
                description.answers::<Self>(facts.status, facts.done);
            }
        })*
    };
}

plain!(
    crate::About,
    crate::AnsweredQuestions,
    crate::Approval,
    crate::BackgroundCommand,
    crate::BackgroundOutput,
    crate::CommitAnswer,
    crate::Changes,
    crate::DraftsKept,
    crate::FolderList,
    crate::History,
    crate::Interrupted,
    crate::LinkAnswer,
    crate::LoginCode,
    crate::MessageAnswer,
    crate::OwnMessage,
    crate::PodDetail,
    crate::PodRef,
    crate::PodSummary,
    crate::Preview,
    crate::McpLog,
    crate::McpContent,
    crate::McpLogin,
    crate::McpPromptText,
    crate::McpServerItem,
    crate::ProviderTest,
    crate::ProviderView,
    crate::QueuedInput,
    crate::Receipt,
    crate::Record,
    crate::Reverted,
    crate::ReviewDrafts,
    crate::RewindPreview,
    crate::RuntimeView,
    crate::ToolAnswer,
    crate::UsageReport,
    crate::WorktreeAnswer,
    PeerAnswer,
);

impl Answered for Listing<String> {
    #[cfg(feature = "openapi")]
    fn describe(facts: &super::Facts, description: &mut super::Description) {
        description.answers_texts(facts.status, facts.done);
    }
}

/// Lists without pages, or whose pages were made where they were read.
macro_rules! lists {
    ($($list:ident of $item:ty;)*) => {
        $(impl Answered for $list<$item> {
            #[cfg(feature = "openapi")]
            fn describe(facts: &super::Facts, description: &mut super::Description) {
                description.answers_list::<Self, $item>(facts.status, facts.done);
            }
        })*
    };
}

lists! {
    Gathered of crate::AuditRow;
    Gathered of crate::SearchHit;
    Listing of crate::ExchangeMessage;
    Listing of crate::PodSummary;
    Listing of crate::Preview;
    Listing of crate::Record;
}

/// Lists with pages, and the fields beside their items.
macro_rules! in_parts {
    ($($list:ty, of $item:ty { $($beside:ident),* })*) => {
        $(impl Answered for $list {
            fn paged(self, page: &Page) -> Result<Self, ApiError> {
                let (items, next) = page.cut(self.items)?;
                Ok(Self { items, next, $($beside: self.$beside),* })
            }

            #[cfg(feature = "openapi")]
            fn describe(facts: &super::Facts, description: &mut super::Description) {
                description.answers_list::<Self, $item>(facts.status, facts.done);
            }
        })*
    };
}

in_parts! {
    Gathered<crate::RuleItem>, of crate::RuleItem { absent }
    Listing<crate::AgentItem>, of crate::AgentItem {}
    Listing<crate::Approval>, of crate::Approval {}
    Listing<crate::BackgroundCommand>, of crate::BackgroundCommand {}
    Listing<crate::McpPrompt>, of crate::McpPrompt {}
    Listing<crate::McpResource>, of crate::McpResource {}
    Listing<crate::McpServerItem>, of crate::McpServerItem {}
    Listing<crate::ModelItem>, of crate::ModelItem {}
    Listing<crate::OpenRequest>, of crate::OpenRequest {}
    Listing<crate::OwnCommand>, of crate::OwnCommand {}
    Listing<crate::PeerView>, of crate::PeerView {}
    Listing<crate::ProfileView>, of crate::ProfileView {}
    Listing<crate::RuntimeView>, of crate::RuntimeView {}
    Listing<crate::SessionView>, of crate::SessionView {}
    Listing<crate::ToolDefault>, of crate::ToolDefault {}
    Listing<crate::VisiblePod>, of crate::VisiblePod {}
    Listing<crate::WallItem>, of crate::WallItem {}
    crate::Providers, of crate::ProviderView { unconfigured }
}

impl Answered for () {
    fn body(&self) -> Option<String> {
        None
    }

    fn read(_: u16, _: &[u8]) -> Result<Self, serde_json::Error> {
        Ok(())
    }

    #[cfg(feature = "openapi")]
    fn describe(facts: &super::Facts, description: &mut super::Description) {
        description.answers_nothing(facts.status, facts.done);
    }
}

/// `None` is sent as `204`.
impl Answered for Option<crate::CompactionPreview> {
    fn status(&self, usual: u16) -> u16 {
        if self.is_some() { usual } else { 204 }
    }

    fn body(&self) -> Option<String> {
        self.as_ref().map(|preview| serde_json::to_string(preview).expect("protocol types always encode"))
    }

    fn read(status: u16, body: &[u8]) -> Result<Self, serde_json::Error> {
        if status == 204 { Ok(None) } else { serde_json::from_slice(body).map(Some) }
    }

    #[cfg(feature = "openapi")]
    fn describe(facts: &super::Facts, description: &mut super::Description) {
        description.answers::<crate::CompactionPreview>(facts.status, facts.done);
        description.answers_nothing(204, "There is nothing to drop");
    }
}

/// Only the status says whether they were peers before.
impl Answered for Introduced {
    fn status(&self, usual: u16) -> u16 {
        match (self.answer.state, self.stood) {
            (PeerLink::Pending, _) => 202,
            (PeerLink::Declined | PeerLink::Expired, _) | (_, true) => 200,
            (_, false) => usual,
        }
    }

    fn body(&self) -> Option<String> {
        self.answer.body()
    }

    fn read(status: u16, body: &[u8]) -> Result<Self, serde_json::Error> {
        Ok(Self { answer: serde_json::from_slice(body)?, stood: status == 200 })
    }

    #[cfg(feature = "openapi")]
    fn describe(facts: &super::Facts, description: &mut super::Description) {
        let stood = "They were peers before; or, for a repeated key, the other side declined or did not answer in time";
        description.answers::<PeerAnswer>(facts.status, facts.done);
        description.answers::<PeerAnswer>(200, stood);
        description.answers::<PeerAnswer>(202, "The other side has to accept the request");
    }
}
