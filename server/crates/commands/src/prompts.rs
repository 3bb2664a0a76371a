//! What makes a message of its name and the words after it: commands of a person's own, prompts of MCP servers, and the
//! commands of a Pod's agent.

use protocol::{AgentChoice, McpPrompt, OwnCommand};

use crate::{Client, Here, TABLE};

/// The most that are offered at once.
const OFFERED_MAX: usize = 20;

/// One of a person's own commands, or a prompt of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The word after the colon.
    pub name: String,
    /// Its arguments, if they are known, and what it is for.
    pub what: String,
    /// Whether words are expected after it.
    pub takes_words: bool,
}

impl Prompt {
    pub fn of_own(command: &OwnCommand) -> Self {
        Self { name: command.name.clone(), what: command.description.clone(), takes_words: false }
    }

    pub fn of_server(prompt: &McpPrompt) -> Self {
        let arguments =
            prompt.arguments.iter().map(|one| if one.required { one.name.clone() } else { format!("[{}]", one.name) });
        let arguments = arguments.collect::<Vec<_>>().join(" ");
        let about = prompt.description.as_ref().or(prompt.title.as_ref()).cloned().unwrap_or_default();
        let what = if arguments.is_empty() { about } else { format!("{arguments}: {about}") };
        Self { name: prompt.name.clone(), what, takes_words: !prompt.arguments.is_empty() }
    }
}

/// Whether the line, with its colon, may name a prompt or one of your commands: no command of this console begins so.
pub fn may_be_prompt(text: &str, client: Client) -> bool {
    let Some(word) = text.strip_prefix(':') else { return false };
    let here = Here { client, pod: None };
    !word.is_empty()
        && !word.contains(' ')
        && !TABLE.iter().any(|entry| here.has(entry.place) && entry.word.starts_with(word))
}

/// Those whose names begin like this.
pub fn prompts_starting<'a>(prompts: impl IntoIterator<Item = &'a Prompt>, word: &str) -> Vec<Prompt> {
    prompts.into_iter().filter(|prompt| prompt.name.starts_with(word)).take(OFFERED_MAX).cloned().collect()
}

/// The beginning of an agent's command, without its slash, if the message is nothing else.
pub fn agent_word(text: &str) -> Option<&str> {
    text.strip_prefix('/').filter(|word| !word.contains(char::is_whitespace))
}

/// The commands of an agent that begin like this.
pub fn agent_commands(all: &[AgentChoice], begun: &str) -> Vec<AgentChoice> {
    all.iter().filter(|command| command.id.starts_with(begun)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use protocol::McpArgument;

    use super::*;

    #[test]
    fn a_prompt_says_what_it_takes_and_is_found_by_its_beginning() {
        let argument = |name: &str, required| McpArgument { name: name.to_owned(), description: None, required };
        let review = McpPrompt {
            name: "files__review".to_owned(),
            title: Some("Review".to_owned()),
            description: None,
            arguments: vec![argument("file", true), argument("tone", false)],
        };
        let own = OwnCommand { name: "fix".into(), description: "Fixes one".into(), path: "/w/fix.md".into() };
        let all = [Prompt::of_own(&own), Prompt::of_server(&review)];
        assert_eq!((all[1].what.as_str(), all[1].takes_words), ("file [tone]: Review", true));
        let found = |word: &str| prompts_starting(&all, word).iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        assert_eq!(
            (found("fi"), found("fix"), found("x")),
            (vec!["fix".into(), "files__review".into()], vec!["fix".into()], vec![])
        );
    }

    #[test]
    fn no_command_of_the_console_is_taken_for_a_prompt() {
        for client in [Client::Browser, Client::Terminal] {
            assert!(may_be_prompt(":files__", client));
            for text in [":", ":res", ":files__review x", "files__review"] {
                assert!(!may_be_prompt(text, client), "{text}");
            }
        }
        // `:fill` is a command of the terminal only.
        assert!(may_be_prompt(":fi", Client::Browser) && !may_be_prompt(":fi", Client::Terminal));
    }

    #[test]
    fn an_agents_command_is_meant_while_the_message_is_only_its_beginning() {
        assert_eq!((agent_word("/"), agent_word("/rev")), (Some(""), Some("rev")));
        assert_eq!((agent_word("/review it"), agent_word("see /rev"), agent_word("rev")), (None, None, None));
        let review = AgentChoice { id: "review".into(), name: "review what".into(), description: None };
        let all = [review];
        assert_eq!(agent_commands(&all, "re"), all);
        assert!(agent_commands(&all, "x").is_empty());
    }
}
