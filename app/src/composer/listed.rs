//! What the list above the message field offers: commands after a `:`, files after an `@`, commands of the Pod's agent
//! after a `/`.

use commands::{Client, Offer, Prompt, agent_commands, agent_word, may_be_prompt, prompts_starting};
use leptos::{prelude::*, task::spawn_local};
use protocol::{AgentChoice, McpResource, PodDetail};

use super::{attaching::attach_content, sending::Outgoing};
use crate::{
    acting::{AtHand, here, named},
    components::completion::Choice,
    composer::draft::{Draft, FileWord, byte_at, file_word, units_at, with_file},
    live,
    server_fns::{fitting_files, fitting_resources, list_own, list_prompts},
};

/// How long typing must pause before the server is asked, in milliseconds.
const REST_MS: u32 = 120;

/// What the list offers now.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Listed {
    Nothing,
    Commands(Vec<Offer>),
    /// Commands of a person's own, and prompts of the Pod's MCP servers.
    Prompts(Vec<Prompt>),
    /// Files, then resources of the Pod's MCP servers.
    Files(FileWord, Vec<String>, Vec<McpResource>),
    /// The agent's commands, for a message that is nothing but the beginning of one.
    OfAgent(Vec<AgentChoice>),
}

/// The list, and which of its lines is chosen.
#[derive(Clone, Copy)]
pub(super) struct List {
    outgoing: Outgoing,
    listed: Memo<Listed>,
    pub(super) choices: Memo<Vec<Choice>>,
    /// `None` until an arrow key has chosen a line.
    pub(super) chosen: Memo<Option<usize>>,
    /// The line that the arrow keys are on.
    at: RwSignal<Option<usize>>,
    /// The file name being typed, and the files that the server found for it.
    word: RwSignal<Option<FileWord>>,
    found: RwSignal<Option<(FileWord, Vec<String>)>>,
    resources: RwSignal<Option<(FileWord, Vec<McpResource>)>>,
    prompts: RwSignal<Option<Vec<Prompt>>>,
    /// Counts edits, so that a late answer to an earlier question can be recognized as stale.
    number: StoredValue<u64>,
}

impl List {
    pub(super) fn new(outgoing: Outgoing) -> Self {
        let word = RwSignal::new(None::<FileWord>);
        let found = RwSignal::new(None::<(FileWord, Vec<String>)>);
        let resources = RwSignal::new(None::<(FileWord, Vec<McpResource>)>);
        let prompts = RwSignal::new(None::<Vec<Prompt>>);
        let listed = Memo::new(move |_| {
            let offers = |text: &str| {
                let (console, at) = (outgoing.console, AtHand::viewed(outgoing.pod));
                let names = |word: &str, begun: &str| named(console, Some(&at), word, begun);
                commands::offers(text, here(console, Some(&at)), names)
            };
            // A message does not depend on the Pod's state, so do not track it.
            let is_command = |draft: &Draft| draft.text.starts_with(':');
            let offers =
                outgoing.draft.with(|draft| is_command(draft).then(|| offers(&draft.text))).unwrap_or_default();
            if !offers.is_empty() {
                return Listed::Commands(offers);
            }
            let of_agent = outgoing.draft.with(|draft| {
                let begun = agent_word(&draft.text)?;
                let all = |detail: &PodDetail| {
                    detail.session.as_ref().map(|session| agent_commands(&session.offers.commands, begun))
                };
                outgoing.pod.detail.with(all)
            });
            if let Some(commands) = of_agent.filter(|commands| !commands.is_empty()) {
                return Listed::OfAgent(commands);
            }
            let fitting = outgoing.draft.with(|draft| {
                let word = draft.text.strip_prefix(':').filter(|word| !word.is_empty())?;
                prompts.with(|prompts| prompts.as_ref().map(|prompts| prompts_starting(prompts, word)))
            });
            if let Some(fitting) = fitting.filter(|fitting| !fitting.is_empty()) {
                return Listed::Prompts(fitting);
            }
            // If the text has been sent or replaced, the word is no longer in it.
            let is_there = |word: &FileWord| {
                let behind = |draft: &Draft| {
                    draft.text.get(word.at..).and_then(|rest| rest.strip_prefix('@')).map(str::to_owned)
                };
                outgoing.draft.with(behind).is_some_and(|rest| rest.starts_with(&word.begun))
            };
            let Some(word) = word.get().filter(is_there) else { return Listed::Nothing };
            // Results for the previous letters stay until those for the current ones arrive.
            let files = found.get().filter(|(asked, _)| asked.at == word.at).map(|(_, files)| files);
            let resources = resources.get().filter(|(asked, _)| asked.at == word.at).map(|(_, all)| all);
            match (files.unwrap_or_default(), resources.unwrap_or_default()) {
                (files, resources) if files.is_empty() && resources.is_empty() => Listed::Nothing,
                (files, resources) => Listed::Files(word, files, resources),
            }
        });
        let choices = Memo::new(move |_| listed.with(Listed::choices));
        let at = RwSignal::new(None::<usize>);
        let chosen = Memo::new(move |_| {
            let last = choices.with(Vec::len).saturating_sub(1);
            let first = || outgoing.draft.with(|draft| listed.with(|listed| listed.first(&draft.text)));
            at.get().map_or_else(first, |at| Some(at.min(last)))
        });
        Self { outgoing, listed, choices, chosen, at, word, found, resources, prompts, number: StoredValue::new(0) }
    }

    pub(super) fn label(self) -> &'static str {
        self.listed.with(|listed| match listed {
            Listed::Files(..) => "Files",
            Listed::Prompts(_) => "Your commands and prompts",
            Listed::OfAgent(_) => "Commands of the agent",
            Listed::Commands(_) | Listed::Nothing => "Commands",
        })
    }

    pub(super) fn is_open(self) -> bool {
        self.choices.with_untracked(|choices| !choices.is_empty())
    }

    /// Something was typed, or the caret moved.
    pub(super) fn typed(self) {
        self.at.set(None);
        if self.outgoing.draft.with_untracked(|draft| may_be_prompt(&draft.text, Client::Browser)) {
            self.ask_prompts();
        }
        let caret = live::caret_in("message");
        let word = self.outgoing.draft.with_untracked(|draft| {
            let text = draft.text.as_str();
            let word = file_word(text, caret.map_or(text.len(), |units| byte_at(text, units)))?;
            // A file that has been chosen needs no completion.
            let is_chosen = commands::is_command(text) || draft.files.contains(&word.begun);
            (!is_chosen).then_some(word)
        });
        if self.word.with_untracked(|known| *known == word) {
            return;
        }
        self.number.update_value(|number| *number += 1);
        self.word.set(word.clone());
        match word {
            Some(word) => self.ask(word),
            None => {
                self.found.set(None);
                self.resources.set(None);
            }
        }
    }

    /// Asks for your commands and the Pod's prompts, once: its servers may have to be started for it, so your commands do
    /// not wait for them.
    fn ask_prompts(self) {
        if self.prompts.with_untracked(Option::is_some) {
            return;
        }
        self.prompts.set(Some(Vec::new()));
        spawn_local(find_prompts(self));
    }

    /// Asks the server once typing pauses. A stale answer is dropped.
    fn ask(self, word: FileWord) {
        let number = self.number.get_value();
        live::after(REST_MS, move || {
            if self.number.try_get_value() != Some(number) {
                return;
            }
            spawn_local(find_fitting(self, word, number));
        });
    }

    pub(super) fn step(self, by: isize) {
        let last = self.choices.with_untracked(Vec::len).saturating_sub(1);
        let next = self.chosen.get_untracked().map_or(0, |at| at.saturating_add_signed(by).min(last));
        self.at.set(Some(next));
        live::reveal(&format!("command-{next}"));
    }

    /// Closes the list of files and leaves the text alone. Returns false if it was not open.
    pub(super) fn close(self) -> bool {
        let was_open = self.has_files();
        self.number.update_value(|number| *number += 1);
        self.word.set(None);
        self.found.set(None);
        self.resources.set(None);
        was_open
    }

    /// Completes the line with this index into the message field.
    pub(super) fn complete(self, index: usize) {
        match self.listed.get_untracked() {
            Listed::Commands(offers) => {
                if let Some(offer) = offers.get(index) {
                    self.outgoing.draft.update(|draft| draft.text = format!(":{} ", offer.line));
                }
            }
            Listed::Prompts(prompts) => {
                if let Some(prompt) = prompts.get(index) {
                    self.outgoing.draft.update(|draft| draft.text = format!(":{} ", prompt.name));
                }
            }
            Listed::OfAgent(commands) => {
                if let Some(command) = commands.get(index) {
                    self.outgoing.draft.update(|draft| draft.text = format!("/{} ", command.id));
                }
            }
            Listed::Files(word, files, resources) => match files.get(index) {
                Some(file) => self.name(&word, file),
                None => {
                    let resource = resources.get(index - files.len());
                    if let Some(resource) = resource.filter(|resource| resource.template.is_some()) {
                        self.go_on(&word, &resource.uri);
                    } else if let Some(resource) = resource {
                        self.attach(&word, resource.clone());
                    }
                }
            },
            Listed::Nothing => (),
        }
        live::focus("message");
    }

    /// Inserts a file into the text.
    fn name(self, word: &FileWord, file: &str) {
        let caret = self.outgoing.draft.try_update(|draft| {
            let (text, caret) = with_file(&draft.text, word, file);
            draft.text = text;
            if !draft.files.iter().any(|known| known == file) {
                draft.files.push(file.to_owned());
            }
            units_at(&draft.text, caret)
        });
        self.close();
        if let Some(caret) = caret {
            live::put_caret("message", caret);
        }
    }

    /// Attaches a resource in place of the word that was typed for it.
    fn attach(self, word: &FileWord, resource: McpResource) {
        self.replace(word, "");
        self.close();
        attach_content(self.outgoing, resource);
    }

    /// Types the beginning of an address, and asks how it may continue.
    fn go_on(self, word: &FileWord, uri: &str) {
        let Some(caret) = self.replace(word, &format!("@{uri}")) else { return };
        self.close();
        let word = FileWord { at: word.at, begun: uri.to_owned() };
        self.word.set(Some(word.clone()));
        self.ask(word);
        live::put_caret("message", caret);
    }

    /// Replaces the word that was typed, with its `@`. Returns the place of the caret behind it.
    fn replace(self, word: &FileWord, by: &str) -> Option<u32> {
        let typed = format!("@{}", word.begun);
        let replaced = self.outgoing.draft.try_update(|draft| {
            let is_there = draft.text.get(word.at..).is_some_and(|rest| rest.starts_with(&typed));
            is_there.then(|| {
                draft.text.replace_range(word.at..word.at + typed.len(), by);
                units_at(&draft.text, word.at + by.len())
            })
        });
        replaced.flatten()
    }

    /// Completes the chosen line, or the first one.
    pub(super) fn complete_chosen(self) {
        self.complete(self.chosen.get_untracked().unwrap_or_default());
    }

    /// What Enter does with the command that has been typed.
    pub(super) fn command(self) -> Entered {
        let text = self.outgoing.draft.with_untracked(|draft| draft.text.clone());
        let offers = match self.listed.get_untracked() {
            Listed::Commands(offers) => offers,
            Listed::Prompts(prompts) if !prompts.iter().any(|prompt| text[1..] == prompt.name) => {
                return Entered::Completed;
            }
            _ => return Entered::AsTyped,
        };
        match self.chosen.get_untracked().and_then(|chosen| offers.get(chosen)) {
            Some(offer) if offer.is_typed_in(&text) => Entered::AsTyped,
            Some(offer) if offer.argument.is_empty() => Entered::Instead(offer.line.clone()),
            None if text == ":" => Entered::Nothing,
            // Either an argument is missing, or the command ends something and is shown in full before it is carried
            // out.
            Some(_) | None => Entered::Completed,
        }
    }

    /// Whether Enter completes the chosen line instead of sending the message.
    pub(super) fn completes(self) -> bool {
        let typed = self.outgoing.draft.with_untracked(|draft| draft.text.clone());
        let chosen = self.chosen.get_untracked().unwrap_or_default();
        self.listed.with_untracked(|listed| match listed {
            Listed::Files(..) => true,
            Listed::OfAgent(commands) => {
                commands.get(chosen).is_some_and(|command| agent_word(&typed) != Some(command.id.as_str()))
            }
            Listed::Commands(_) | Listed::Prompts(_) | Listed::Nothing => false,
        })
    }

    pub(super) fn has_files(self) -> bool {
        self.listed.with_untracked(|listed| matches!(listed, Listed::Files(..)))
    }
}

act! {
    async fn find_prompts(list: List) -> () = read_prompts;
}

async fn read_prompts(list: List) {
    let Some(pod) = list.outgoing.pod.pod.try_get_value() else { return };
    let own = list_own(pod.clone()).await;
    let mut all: Vec<Prompt> = own.iter().flatten().map(Prompt::of_own).collect();
    list.prompts.try_set(Some(all.clone()));
    let prompts = list_prompts(pod).await;
    all.extend(prompts.iter().flatten().map(Prompt::of_server));
    // What could not be read is asked for again with the next letter.
    list.prompts.try_set((own.is_ok() && prompts.is_ok()).then_some(all));
}

act! {
    /// Finds files and resources whose names fit the word, unless it is no longer what is typed.
    async fn find_fitting(list: List, word: FileWord, number: u64) -> () = read_fitting;
}

async fn read_fitting(list: List, word: FileWord, number: u64) {
    let Some(pod) = list.outgoing.pod.pod.try_get_value() else { return };
    let files = fitting_files(pod.clone(), word.begun.clone()).await.unwrap_or_default();
    if list.number.try_get_value() != Some(number) {
        return;
    }
    list.found.try_set(Some((word.clone(), files)));
    // Servers may have to be started for it, so files do not wait.
    let resources = fitting_resources(pod, word.begun.clone()).await.unwrap_or_default();
    if list.number.try_get_value() == Some(number) {
        list.resources.try_set(Some((word, resources)));
    }
}

/// What Enter does with a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entered {
    AsTyped,
    /// Run this chosen line instead.
    Instead(String),
    /// Complete it in the message field.
    Completed,
    Nothing,
}

impl Listed {
    fn first(&self, text: &str) -> Option<usize> {
        match self {
            Self::Commands(offers) => commands::preselected(offers, text),
            _ => Some(0),
        }
    }

    fn choices(&self) -> Vec<Choice> {
        let command = |offer: &Offer| Choice {
            text: format!(":{}", offer.line),
            argument: offer.argument,
            what: offer.refusal.map_or_else(|| offer.what.clone(), str::to_owned),
            is_refused: offer.refusal.is_some(),
        };
        let file = |path: &String| {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            Choice { text: format!("@{name}"), argument: "", what: folder.to_owned(), is_refused: false }
        };
        let of_agent = |command: &AgentChoice| Choice {
            text: format!("/{}", command.name),
            argument: "",
            what: command.description.clone().unwrap_or_default(),
            is_refused: false,
        };
        match self {
            Self::Nothing => Vec::new(),
            Self::Commands(offers) => offers.iter().map(command).collect(),
            Self::Prompts(prompts) => prompts.iter().map(prompt_line).collect(),
            Self::Files(_, files, resources) => {
                files.iter().map(file).chain(resources.iter().map(resource_line)).collect()
            }
            Self::OfAgent(commands) => commands.iter().map(of_agent).collect(),
        }
    }
}

fn resource_line(resource: &McpResource) -> Choice {
    let McpResource { server, uri, name, title, template, .. } = resource;
    // Of a template the beginning is what is typed.
    let (name, address) = match template {
        Some(template) => (uri, template),
        None => (title.as_ref().unwrap_or(name), uri),
    };
    Choice { text: format!("@{name}"), argument: "", what: format!("{server}: {address}"), is_refused: false }
}

fn prompt_line(prompt: &Prompt) -> Choice {
    Choice { text: format!(":{}", prompt.name), argument: "", what: prompt.what.clone(), is_refused: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_offered_by_its_name_with_its_folder_beside_it() {
        let word = FileWord { at: 0, begun: "ma".to_owned() };
        let notes = McpResource {
            server: "files".into(),
            uri: "note://1".into(),
            name: "notes".into(),
            title: None,
            description: None,
            media_type: None,
            template: None,
        };
        let logs = McpResource {
            uri: "log://".into(),
            template: Some("log://{day}".into()),
            title: Some("Logs".into()),
            ..notes.clone()
        };
        let files = vec!["src/deep/main.rs".to_owned(), "Makefile".to_owned()];
        let listed = Listed::Files(word, files, vec![notes, logs]);
        let lines: Vec<_> = listed.choices().into_iter().map(|choice| (choice.text, choice.what)).collect();
        let line = |text: &str, what: &str| (text.to_owned(), what.to_owned());
        let resource = line("@notes", "files: note://1");
        let template = line("@log://", "files: log://{day}");
        assert_eq!(lines, [line("@main.rs", "src/deep"), line("@Makefile", ""), resource, template]);
        assert!(Listed::Nothing.choices().is_empty());
    }

    #[test]
    fn an_agents_command_is_offered_with_what_follows_it() {
        let review = AgentChoice { id: "review".into(), name: "review what".into(), description: Some("Looks".into()) };
        let lines = Listed::OfAgent(vec![review]).choices();
        assert_eq!((lines[0].text.as_str(), lines[0].what.as_str()), ("/review what", "Looks"));
    }
}
