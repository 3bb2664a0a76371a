//! The choices for a new Pod, as far as the server has sent them.

use protocol::{
    AgentItem, FolderList, ProfileView, ProviderTest, ProviderView, RuntimeId, RuntimeView, UnconfiguredProvider,
};

/// Models, profiles, runtimes, and the default folder.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Choices {
    pub(crate) providers: Vec<ProviderView>,
    pub(crate) unconfigured: Vec<UnconfiguredProvider>,
    pub(crate) profiles: Vec<ProfileView>,
    pub(crate) runtimes: Vec<RuntimeView>,
    pub(crate) agents: Vec<AgentItem>,
    /// The folder where this console was started, or where the server was started if that is another machine.
    pub(crate) folder: Option<String>,
}

impl Choices {
    pub(crate) fn profile(&self, name: &str) -> Option<&ProfileView> {
        self.profiles.iter().find(|profile| profile.name == name)
    }

    /// The default provider.
    pub(crate) fn usual(&self) -> Option<&ProviderView> {
        self.providers.iter().find(|provider| provider.default)
    }
}

/// Folders that match the path being typed.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    /// The last request that has not been answered yet.
    pub(crate) asked: Option<FolderWord>,
    pub(crate) found: Option<(FolderWord, FolderList)>,
}

/// The beginning of a path, and the runtime that it is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FolderWord {
    pub(crate) runtime: Option<RuntimeId>,
    pub(crate) begun: String,
}

/// The overlay that lists the providers.
#[derive(Debug, Default)]
pub(crate) struct ProviderSheet {
    pub(crate) selected: usize,
    /// Results of the providers tested; `None` while a test is running.
    pub(crate) tests: Vec<(String, Option<ProviderTest>)>,
}

/// The provider whose key is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyOf {
    pub(crate) provider: String,
    pub(crate) base_url: Option<String>,
}
