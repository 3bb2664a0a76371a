//! What a Pod can be made of, as far as the server has said.

use protocol::{
    AgentItem, FolderList, ProfileView, ProviderTest, ProviderView, RuntimeId, RuntimeView, UnconfiguredProvider,
};

/// Models, profiles, runtimes, and the folder of a Pod that names none.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Choices {
    pub(crate) providers: Vec<ProviderView>,
    pub(crate) unconfigured: Vec<UnconfiguredProvider>,
    pub(crate) profiles: Vec<ProfileView>,
    pub(crate) runtimes: Vec<RuntimeView>,
    pub(crate) agents: Vec<AgentItem>,
    /// Where this console was started, or where the server was, when that is another machine.
    pub(crate) folder: Option<String>,
}

impl Choices {
    pub(crate) fn profile(&self, name: &str) -> Option<&ProfileView> {
        self.profiles.iter().find(|profile| profile.name == name)
    }

    /// The provider that a Pod has that names none.
    pub(crate) fn usual(&self) -> Option<&ProviderView> {
        self.providers.iter().find(|provider| provider.default)
    }
}

/// Folders whose path begins like what is typed.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    /// What was asked for last, and not answered yet.
    pub(crate) asked: Option<FolderWord>,
    pub(crate) found: Option<(FolderWord, FolderList)>,
}

/// The beginning of a path, and where it is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FolderWord {
    pub(crate) runtime: Option<RuntimeId>,
    pub(crate) begun: String,
}

/// The providers, one after the other.
#[derive(Debug, Default)]
pub(crate) struct ProviderSheet {
    pub(crate) selected: usize,
    /// How those answered that were asked, or that they are being asked.
    pub(crate) tests: Vec<(String, Option<ProviderTest>)>,
}

/// Whose key is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyOf {
    pub(crate) provider: String,
    pub(crate) base_url: Option<String>,
}
