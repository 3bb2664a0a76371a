//! What follows from the list of operations: the enums of commands, queries and answers, and what each of them knows.

/// One type for each operation, and the enums of all commands and all queries.
macro_rules! operations {
    (
        commands {
            $($(#[doc = $c_about:literal])* $command:ident $c_id:literal $key:literal $action:literal: $c_method:ident $c_path:expr, $c_tag:literal { $($c_fields:tt)* } -> $c_status:literal $c_done:literal $c_answer:ty;)*
        }
        queries {
            $($(#[doc = $q_about:literal])* $query:ident $q_id:literal: $q_method:ident $q_path:expr, $q_tag:literal { $($q_fields:tt)* } -> $q_status:literal $q_done:literal $q_answer:ty;)*
        }
        server {
            $($(#[doc = $s_about:literal])* $own:ident $s_id:literal: $s_method:ident $s_path:expr, $s_tag:literal { $($s_fields:tt)* } -> $s_status:literal $s_done:literal $s_answer:ty;)*
        }
    ) => {
        $(operation! { $(#[doc = $c_about])* $command $c_id: $c_method $c_path, $c_tag { $($c_fields)* } -> $c_status $c_done $c_answer })*
        $(operation! { $(#[doc = $q_about])* $query $q_id: $q_method $q_path, $q_tag { $($q_fields)* } -> $q_status $q_done $q_answer })*
        $(operation! { $(#[doc = $s_about])* $own $s_id: $s_method $s_path, $s_tag { $($s_fields)* } -> $s_status $s_done $s_answer })*

        /// Any command.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Command {
            $($command($command),)*
        }

        /// Any query.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Query {
            $($query($query),)*
        }

        $(
            impl From<$command> for Command {
                fn from(command: $command) -> Self {
                    Self::$command(command)
                }
            }
            impl ToCommand for $command {}
        )*
        $(
            impl From<$query> for Query {
                fn from(query: $query) -> Self {
                    Self::$query(query)
                }
            }
            impl ToQuery for $query {}
        )*

        /// Visits every command.
        pub fn each_command(see: &mut impl EachCommand) {
            $(see.see::<$command>();)*
        }

        /// Visits every query.
        pub fn each_query(see: &mut impl EachQuery) {
            $(see.see::<$query>();)*
        }

        /// Visits the server's own operations.
        pub fn each_own(see: &mut impl EachOwn) {
            $(see.see::<$own>();)*
        }

        impl Command {
            pub fn facts(&self) -> Facts {
                match self {
                    $(Self::$command(_) => $command::FACTS,)*
                }
            }

            /// What its key is bound to, besides the Pod and the request.
            pub fn key_word(&self) -> &'static str {
                match self {
                    $(Self::$command(_) => $key,)*
                }
            }

            /// Its name in the audit, unless what it says makes it another one.
            fn usual_action(&self) -> &'static str {
                match self {
                    $(Self::$command(_) => $action,)*
                }
            }

            /// Like [`Operation::request`].
            ///
            /// # Errors
            /// As there.
            pub fn request(&self) -> Result<Request, String> {
                match self {
                    $(Self::$command(command) => command.request(),)*
                }
            }

            /// Decodes its answer.
            ///
            /// # Errors
            /// If the JSON does not fit.
            pub fn answered(&self, status: u16, body: &[u8]) -> Result<Answer, serde_json::Error> {
                match self {
                    $(Self::$command(_) => <$c_answer as Answered>::read(status, body).map(Answer::from),)*
                }
            }

            /// Decodes its answer from what [`Answer::kept`] returned.
            ///
            /// # Errors
            /// If the JSON does not fit.
            pub fn kept(&self, json: &str) -> Result<Answer, serde_json::Error> {
                match self {
                    $(Self::$command(_) => serde_json::from_str::<$c_answer>(json).map(Answer::from),)*
                }
            }

            /// The Pod that it is about; `None` if it makes one.
            pub fn pod(&self) -> Option<&PodRef> {
                match self {
                    $(Self::$command(command) => command.pod(),)*
                }
            }

            pub fn pod_mut(&mut self) -> Option<&mut PodRef> {
                match self {
                    $(Self::$command(command) => command.pod_mut(),)*
                }
            }

            /// Like [`Operation::said`].
            pub fn said(&self) -> String {
                match self {
                    $(Self::$command(command) => command.said(),)*
                }
            }
        }

        impl Query {
            pub fn facts(&self) -> Facts {
                match self {
                    $(Self::$query(_) => $query::FACTS,)*
                }
            }

            /// Like [`Operation::request`].
            ///
            /// # Errors
            /// As there.
            pub fn request(&self) -> Result<Request, String> {
                match self {
                    $(Self::$query(query) => query.request(),)*
                }
            }

            /// Decodes its answer.
            ///
            /// # Errors
            /// If the JSON does not fit.
            pub fn answered(&self, status: u16, body: &[u8]) -> Result<Answer, serde_json::Error> {
                match self {
                    $(Self::$query(_) => <$q_answer as Answered>::read(status, body).map(Answer::from),)*
                }
            }

            /// Like [`Operation::page`].
            pub fn page(&self) -> Option<&Page> {
                match self {
                    $(Self::$query(query) => query.page(),)*
                }
            }

            /// The Pod that it is about; `None` if it is about all.
            pub fn pod(&self) -> Option<&PodRef> {
                match self {
                    $(Self::$query(query) => query.pod(),)*
                }
            }

            pub fn pod_mut(&mut self) -> Option<&mut PodRef> {
                match self {
                    $(Self::$query(query) => query.pod_mut(),)*
                }
            }
        }
    };
}

/// The enum of all answers.
macro_rules! answers {
    ($($name:ident($kind:ty),)*) => {
        /// The answer to any command or query.
        #[derive(Debug, Clone, PartialEq)]
        #[allow(clippy::large_enum_variant, reason = "an answer is made once, and taken apart where it arrives")]
        pub enum Answer {
            $($name($kind),)*
        }

        $(
            impl From<$kind> for Answer {
                fn from(answer: $kind) -> Self {
                    Self::$name(answer)
                }
            }

            impl TryFrom<Answer> for $kind {
                type Error = Answer;

                fn try_from(answer: Answer) -> Result<Self, Answer> {
                    match answer {
                        Answer::$name(answer) => Ok(answer),
                        other => Err(other),
                    }
                }
            }
        )*

        impl Answer {
            /// As JSON, to answer a repeat of the command; [`Command::kept`] reads it.
            pub fn kept(&self) -> String {
                match self {
                    $(Self::$name(answer) => serde_json::to_string(answer),)*
                }
                .expect("protocol types always encode")
            }

            /// Like [`Answered::status`].
            pub fn status(&self, usual: u16) -> u16 {
                match self {
                    $(Self::$name(answer) => answer.status(usual),)*
                }
            }

            /// Like [`Answered::body`].
            pub fn body(&self) -> Option<String> {
                match self {
                    $(Self::$name(answer) => answer.body(),)*
                }
            }

            /// Like [`Answered::paged`].
            ///
            /// # Errors
            /// As there.
            pub fn paged(self, page: &Page) -> Result<Self, ApiError> {
                match self {
                    $(Self::$name(answer) => answer.paged(page).map(Self::$name),)*
                }
            }
        }
    };
}

pub(crate) use {answers, operations};
