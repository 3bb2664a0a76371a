//! The sandbox between a Pod's commands and the machine, as its layers.

use serde::{Deserialize, Serialize};

/// One of the walls around commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Wall {
    /// A room for each command: its own tree of files, processes, and talk between processes.
    Namespaces,
    /// The kernel's rules about files.
    Landlock,
    /// The filter of calls to the kernel.
    Seccomp,
    /// Limits that hold for a command as a whole.
    Cgroup,
    /// A network of its own.
    Network,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum WallState {
    On,
    Partly,
    Off,
}

/// Whether a wall is in place on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WallItem {
    pub wall: Wall,
    pub state: WallState,
    /// Why, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl Wall {
    /// Its JSON value, which is also shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
            Self::Cgroup => "cgroup",
            Self::Network => "network",
        }
    }
}

impl WallState {
    /// Its JSON value, which is also shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Partly => "partly",
            Self::Off => "off",
        }
    }
}
