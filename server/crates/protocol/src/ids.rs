//! Identities: runtimes, Pods, names, positions in a journal.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Why a text is not a valid name, id or target. The sentence can be shown to users.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NameError(String);

impl NameError {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

/// The id of a runtime: `[a-z0-9-]{1,32}`. The one inside this server is `local`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "openapi", schema(value_type = String, pattern = "^[a-z0-9-]{1,32}$"))]
pub struct RuntimeId(String);

impl RuntimeId {
    /// The runtime inside this server.
    pub fn local() -> Self {
        Self("local".to_owned())
    }

    /// Accepts `[a-z0-9-]{1,32}`.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let fits = (1..=32).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        match fits {
            true => Ok(Self(text.to_owned())),
            false => Err(NameError::new("a runtime id is 1 to 32 characters of a-z, 0-9 and -")),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A Pod's identity inside its runtime. Opaque to clients; 1 to 64 characters of `[A-Za-z0-9-]` (yoi makes UUIDv7).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "openapi", schema(value_type = String, pattern = "^[A-Za-z0-9-]{1,64}$"))]
pub struct WorkerId(String);

impl WorkerId {
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let fits =
            (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        match fits {
            true => Ok(Self(text.to_owned())),
            false => Err(NameError::new("a worker id is 1 to 64 characters of A-Z, a-z, 0-9 and -")),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<uuid::Uuid> for WorkerId {
    fn from(uuid: uuid::Uuid) -> Self {
        Self(uuid.to_string())
    }
}

/// The longest name of a Pod, in bytes.
pub const POD_NAME_BYTES_MAX: usize = 64;

/// A Pod's name for people: `[A-Za-z0-9._-]{1,64}`, not `.` or `..`; unique within a runtime, case-sensitive.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "openapi", schema(value_type = String, pattern = "^[A-Za-z0-9._-]{1,64}$"))]
pub struct PodName(String);

impl PodName {
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if text.is_empty() {
            return Err(NameError::new("a Pod needs a name"));
        }
        if text == "." || text == ".." {
            return Err(NameError::new("a Pod cannot be called \".\" or \"..\""));
        }
        let fits = text.len() <= POD_NAME_BYTES_MAX
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
        match fits {
            true => Ok(Self(text.to_owned())),
            false => Err(NameError::new("a name is 1 to 64 characters of A-Z, a-z, 0-9, dot, underscore and hyphen")),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

macro_rules! text_id {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = NameError;
            fn try_from(text: String) -> Result<Self, NameError> {
                Self::parse(&text)
            }
        }
        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }
        impl FromStr for $name {
            type Err = NameError;
            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::parse(text)
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}
text_id!(RuntimeId);
text_id!(WorkerId);
text_id!(PodName);

/// The address of one Pod, as the answering server names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PodRef {
    pub runtime_id: RuntimeId,
    pub worker_id: WorkerId,
}

impl PodRef {
    pub fn new(runtime_id: RuntimeId, worker_id: WorkerId) -> Self {
        Self { runtime_id, worker_id }
    }
}

impl fmt::Display for PodRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.runtime_id, self.worker_id)
    }
}

impl FromStr for PodRef {
    type Err = NameError;

    /// Parses `runtime_id/worker_id`.
    fn from_str(text: &str) -> Result<Self, NameError> {
        let (runtime, worker) =
            text.split_once('/').ok_or_else(|| NameError::new("a Pod's address is runtime_id/worker_id"))?;
        Ok(Self { runtime_id: RuntimeId::parse(runtime)?, worker_id: WorkerId::parse(worker)? })
    }
}

/// How a user refers to a Pod: `name`, `name@runtime_id`, or `runtime_id/worker_id`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Name { name: PodName, runtime_id: Option<RuntimeId> },
    Ref(PodRef),
}

impl FromStr for Target {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        if text.contains('/') {
            return Ok(Self::Ref(text.parse()?));
        }
        match text.split_once('@') {
            Some((name, runtime)) => {
                Ok(Self::Name { name: PodName::parse(name)?, runtime_id: Some(RuntimeId::parse(runtime)?) })
            }
            None => Ok(Self::Name { name: PodName::parse(text)?, runtime_id: None }),
        }
    }
}

/// Position in one Pod's journal. Dense, starts at 1, never reused; 0 is "before the first record".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Seq(pub i64);

impl Seq {
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The caller's own id for one command: 1 to 128 visible ASCII characters. A repeated command happens once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = String, pattern = "^[!-~]{1,128}$"))]
#[serde(try_from = "String", into = "String")]
pub struct CommandId(String);

/// An idempotency key that is empty, too long, or not visible ASCII.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an idempotency key is 1 to 128 visible ASCII characters")]
pub struct CommandIdError;

impl CommandId {
    pub fn parse(text: &str) -> Result<Self, CommandIdError> {
        match (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            true => Ok(Self(text.to_owned())),
            false => Err(CommandIdError),
        }
    }

    /// A fresh id, for a caller that provides none.
    pub fn random() -> Self {
        Self(uuid::Uuid::new_v4().to_string())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for CommandId {
    type Error = CommandIdError;
    fn try_from(text: String) -> Result<Self, CommandIdError> {
        Self::parse(&text)
    }
}

impl From<CommandId> for String {
    fn from(id: CommandId) -> String {
        id.0
    }
}

impl fmt::Display for CommandId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_at_the_door() {
        for good in ["a", "ada", "A.b_c-9", "...", &"x".repeat(64)] {
            assert!(PodName::parse(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", "a b", "é", "a/b", "a@b", "a\n", "a\0", &"x".repeat(65)] {
            assert!(PodName::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_target_is_a_name_a_name_at_a_runtime_or_an_address() {
        let name = |text| PodName::parse(text).unwrap();
        let runtime = |text| RuntimeId::parse(text).unwrap();
        assert_eq!("bob".parse(), Ok(Target::Name { name: name("bob"), runtime_id: None }));
        assert_eq!("bob@gpu-box".parse(), Ok(Target::Name { name: name("bob"), runtime_id: Some(runtime("gpu-box")) }));
        let pod = PodRef::new(runtime("local"), WorkerId::parse("0190-ab").unwrap());
        assert_eq!("local/0190-ab".parse(), Ok(Target::Ref(pod)));
        for bad in ["", "bob@", "@local", "bob@LOCAL", "local/", "/x", "local/a/b", "a b"] {
            assert!(bad.parse::<Target>().is_err(), "{bad:?}");
        }
    }
}
