//! What an operation of the API is: one type that says by which method and at which path it is asked for, what is sent
//! with it, what is answered, and, of a command, what the audit calls it and whom it is about.
//!
//! The routes, the OpenAPI document, the typed client, the ports of the runtimes and the fingerprints of commands all follow
//! from these types. The list of them is `operations.rs`.

mod answered;
#[cfg(feature = "openapi")]
mod description;
pub(crate) mod field;
mod page;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

#[cfg(feature = "openapi")]
pub use self::description::Description;
pub use self::{
    answered::Answered,
    field::{Filled, InPath, InQuery, Limit, Loose},
    page::{Keyed, Page},
};
use crate::PodRef;

/// By which method a request is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// What is known of an operation before it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Its `operationId` in the OpenAPI document.
    pub id: &'static str,
    pub method: Method,
    /// With its parameters in braces.
    pub path: &'static str,
    pub tag: &'static str,
    /// What it does, line by line.
    pub about: &'static [&'static str],
    /// The status of its success, and what that means.
    pub status: u16,
    pub done: &'static str,
}

/// One operation.
pub trait Operation: std::fmt::Debug + Clone + Send + Sync + 'static {
    const FACTS: Facts;
    type Answer: Answered;

    /// As it goes over the wire.
    ///
    /// # Errors
    /// The sentence that says which word cannot stand in a path.
    fn request(&self) -> Result<Request, String>;

    /// As it came over the wire.
    ///
    /// # Errors
    /// The sentence that says what is wrong with the request.
    fn receive(received: &impl Received) -> Result<Self, String>;

    /// The Pod in its path.
    fn pod(&self) -> Option<&PodRef>;
    fn pod_mut(&mut self) -> Option<&mut PodRef>;

    /// The part of a list that is asked for.
    fn page(&self) -> Option<&Page>;

    /// What was said beside the Pod, as JSON: a repeat of a command says the same.
    fn said(&self) -> String;

    #[cfg(feature = "openapi")]
    fn describe(description: &mut Description);
}

/// A request that a client makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// [`Facts::id`] of what is asked for.
    pub id: &'static str,
    pub method: Method,
    /// Without the server's address; every parameter is filled in and escaped.
    pub path: String,
    pub query: Vec<(&'static str, String)>,
    /// JSON.
    pub body: Option<String>,
}

/// A request that a server got.
pub trait Received {
    /// A parameter of the path, unescaped.
    fn path(&self, name: &str) -> &str;
    fn query(&self, name: &str) -> Option<&str>;
    /// # Errors
    /// The sentence that says where the body does not fit.
    fn body<T: DeserializeOwned + Serialize>(&self) -> Result<T, String>;
    /// As [`Received::body`]; no body, or `null`, is the default.
    fn body_or_default<T: DeserializeOwned + Serialize + Default>(&self) -> Result<T, String>;
}

/// A body without fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NoFields {}

impl Request {
    pub(crate) fn new(facts: &Facts) -> Self {
        Self { id: facts.id, method: facts.method, path: facts.path.to_owned(), query: Vec::new(), body: None }
    }

    /// Puts a word into the place of a parameter. What would lead to another path is no such word.
    pub(crate) fn fill(&mut self, name: &str, word: &str) -> Result<(), String> {
        if matches!(word, "" | "." | "..") {
            return Err(format!("\"{word}\" names nothing"));
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
        let escaped: String = word
            .bytes()
            .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
            .collect();
        self.path = self.path.replacen(&format!("{{{name}}}"), &escaped, 1);
        Ok(())
    }
}

/// Where a Pod stands in the API.
macro_rules! at_pod {
    ($rest:literal) => {
        concat!("/api/v1/runtimes/{runtime_id}/workers/{worker_id}", $rest)
    };
}
pub(crate) use at_pod;

/// One operation by its facts and fields. Before each field stands its place in a request: a module of [`field`].
macro_rules! operation {
    (
        $(#[doc = $about:literal])*
        $name:ident $id:literal: $method:ident $path:expr, $tag:literal {
            $($(#[doc = $said:literal])* $place:ident $field:ident: $kind:ty,)*
        } -> $status:literal $done:literal $answer:ty
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $($(#[doc = $said])* pub $field: $kind,)*
        }

        impl $crate::operation::Operation for $name {
            const FACTS: $crate::operation::Facts = $crate::operation::Facts {
                id: $id,
                method: $crate::operation::Method::$method,
                path: $path,
                tag: $tag,
                about: &[$($about),*],
                status: $status,
                done: $done,
            };
            type Answer = $answer;

            fn request(&self) -> Result<$crate::operation::Request, String> {
                #[allow(unused_mut)]
                let mut request = $crate::operation::Request::new(&Self::FACTS);
                $($crate::operation::field::$place::put(&self.$field, stringify!($field), &mut request)?;)*
                Ok(request)
            }

            #[allow(unused_variables)]
            fn receive(received: &impl $crate::operation::Received) -> Result<Self, String> {
                Ok(Self { $($field: $crate::operation::field::$place::take(stringify!($field), received)?,)* })
            }

            fn pod(&self) -> Option<&$crate::PodRef> {
                let fields: [Option<&$crate::PodRef>; _] = [$($crate::operation::field::$place::pod(&self.$field)),*];
                fields.into_iter().flatten().next()
            }

            fn pod_mut(&mut self) -> Option<&mut $crate::PodRef> {
                let fields: [Option<&mut $crate::PodRef>; _] = [$($crate::operation::field::$place::pod_mut(&mut self.$field)),*];
                fields.into_iter().flatten().next()
            }

            fn page(&self) -> Option<&$crate::operation::Page> {
                let fields: [Option<&$crate::operation::Page>; _] = [$($crate::operation::field::$place::page(&self.$field)),*];
                fields.into_iter().flatten().next()
            }

            fn said(&self) -> String {
                let said: [Option<String>; _] = [$($crate::operation::field::$place::said(&self.$field)),*];
                $crate::operation::field::together(said)
            }

            #[cfg(feature = "openapi")]
            fn describe(description: &mut $crate::operation::Description) {
                $($crate::operation::field::$place::describe::<$kind>(
                    stringify!($field), &[$($said),*], description,
                );)*
                <$answer as $crate::operation::Answered>::describe(&Self::FACTS, description);
            }
        }
    };
}
pub(crate) use operation;
