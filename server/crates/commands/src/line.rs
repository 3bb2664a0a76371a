//! The `:` commands: their completions, and their meaning.

use protocol::{Budget, ControlVerb, HeldDecision, NetworkPolicy, PodState, Since, Thinking, WorktreeVerb};

use crate::{Page, TABLE, Where, allowed, entry};

/// Shown when a command needs a Pod and none is open.
pub const NOT_ATTACHED: &str = "not attached; open a Pod first";

/// Shown when only a colon has been entered.
pub const CHOOSE: &str = "type a command or choose one with the arrow keys";

/// A parsed line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Control(ControlVerb),
    Rename(String),
    /// Creates a Pod of this name with this one's history and settings.
    Fork(String),
    /// Commits what is changed in its folder, with this message.
    Commit(String),
    /// Merges the branch of its own work tree, or removes both.
    Worktree(WorktreeVerb),
    /// How much of the network its commands can reach.
    Network(NetworkPolicy),
    /// The model, and its provider if that changes too; `None` to choose in a dialog.
    Model(Option<(String, Option<String>)>),
    /// Sets its mode, or one of its agent's.
    Mode(String),
    Think(Thinking),
    /// The limit of its usage; `None` for no limit.
    Budget(Option<Budget>),
    /// Whether it resumes by itself after a provider's usage limit.
    AutoResume(bool),
    /// Previews of what its commands serve.
    Preview(PreviewAct),
    /// Deletes this Pod; the name has to be its own.
    Delete(String),
    New(String),
    /// Creates a Pod of this name with the history in this local file; settings may follow.
    Import(String),
    /// Answers the oldest open approval.
    Answer(Answer),
    /// Answers the question with the option of this id, one of the agent's own.
    Choose(String),
    /// Answers the oldest open question, which is a form, with these values.
    Fill(String),
    /// Shows the agent that answers in the Pod.
    Agent,
    /// Shows what has changed in its folders since then.
    Changes(Since),
    /// Rewinds to before the newest message.
    Rewind,
    /// Opens the dialog, with this name if there is one.
    Spawn(String),
    /// Opens the dialog that adds this Pod as a peer, or one chosen there.
    Peer(String),
    /// Ends the relation with this peer.
    Unpeer(String),
    /// Sends this text as a message.
    Send(String),
    /// Sends this text into the current run.
    Steer(String),
    /// Shows queued and held messages.
    Queue,
    /// Shows its background commands.
    Jobs,
    /// Takes back the newest queued message.
    TakeBack,
    /// Decides on the oldest held message.
    Held(HeldDecision),
    /// Opens the Pod of this name.
    Open(String),
    /// Searches all transcripts for these words; without words, opens the search.
    Search(String),
    Go(Page),
    /// Exports the transcript as a file.
    Export,
    /// Attaches a local file, by its path.
    Attach(String),
    Help(Topic),
    /// Shows the sandbox between commands and the machine.
    Walls,
    /// Shows the providers, and what is missing.
    Providers,
    /// Starts typing a key for the provider of this name, which may have a custom address.
    Key {
        provider: String,
        base_url: Option<String>,
    },
    /// Lists the MCP servers whose tools models may call.
    Servers,
    Quit,
}

/// A command about previews.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreviewAct {
    /// Lists the ports listened on and those with a preview.
    List,
    Open(u16),
    Close(u16),
}

/// The topic of the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    Keys,
    Peers,
}

/// Your answer to an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Once,
    /// With the pattern of the calls that are meant, after `folder` or `everywhere` if not only for this Pod; empty for
    /// exactly this call.
    Always(String),
    /// With a reason, which may be empty.
    Deny(String),
}

/// The state of a Pod that commands depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub state: PodState,
    /// Whether an approval is open.
    pub asks: bool,
    /// Whether it has a peer, or an open peer request from or to another Pod.
    pub knows: bool,
    /// Why there is nothing to retry ([`allowed::retry_refusal`]).
    pub no_retry: Option<&'static str>,
}

/// Which console it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    Browser,
    Terminal,
}

/// The context in which a line is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Here {
    pub client: Client,
    /// The open Pod; `None` on a page that is about no Pod.
    pub pod: Option<Standing>,
}

impl Here {
    /// Whether this console has that command at all.
    pub fn has(self, place: Where) -> bool {
        match place {
            Where::Pod | Where::Anywhere => true,
            Where::Browser => self.client == Client::Browser,
            Where::Terminal | Where::TerminalPod => self.client == Client::Terminal,
        }
    }
}

/// A Pod that a command can name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub name: String,
    pub what: String,
    pub refusal: Option<&'static str>,
}

/// One entry of the completion list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The completed line without the colon: a command, or a command with a name.
    pub line: String,
    /// A placeholder for what follows.
    pub argument: &'static str,
    pub what: String,
    /// Why it is unavailable now.
    pub refusal: Option<&'static str>,
}

impl Offer {
    /// Whether the line already contains all of this.
    pub fn is_typed_in(&self, text: &str) -> bool {
        let rest = text.strip_prefix(':').and_then(|line| line.strip_prefix(self.line.as_str()));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    }

    /// Whether it must not be run by typing one letter and Enter.
    fn is_grave(&self) -> bool {
        let word = self.line.split(' ').next().unwrap_or_default();
        entry(word).is_some_and(|entry| entry.is_grave)
    }
}

/// Which completion is chosen before an arrow key is used: none before a letter is typed, and never a grave command
/// before its whole word is typed.
pub fn preselected(offers: &[Offer], text: &str) -> Option<usize> {
    let is_begun = text.strip_prefix(':').is_some_and(|line| !line.is_empty());
    let is_open = |offer: &Offer| offer.refusal.is_none() && (!offer.is_grave() || offer.is_typed_in(text));
    // With only unavailable ones the first is chosen, so that Enter gives its reason.
    let all_refused = || offers.iter().all(|offer| offer.refusal.is_some()).then_some(0);
    offers.iter().position(is_open).or_else(all_refused).filter(|_| is_begun && !offers.is_empty())
}

/// Whether the composer holds a command and not a message.
pub fn is_command(text: &str) -> bool {
    text.starts_with(':') && !text.contains('\n')
}

/// The commands that begin with what has been typed; after a command that takes a name, the names that `named`
/// returns for it.
pub fn offers(text: &str, here: Here, named: impl Fn(&str, &str) -> Vec<Named>) -> Vec<Offer> {
    let Some(line) = text.strip_prefix(':') else { return Vec::new() };
    let (typed, argument) = match line.split_once(' ') {
        Some((word, argument)) => (word, Some(argument.trim())),
        None => (line, None),
    };
    let fits = |word: &str| if argument.is_some() { word == typed } else { word.starts_with(typed) };
    let words = TABLE.iter().filter(|entry| here.has(entry.place) && fits(entry.word)).map(|entry| Offer {
        line: entry.word.to_owned(),
        argument: entry.argument,
        what: entry.what.to_owned(),
        refusal: refusal(entry.word, here),
    });
    let names = argument.map(|argument| named(typed, argument)).unwrap_or_default();
    let names: Vec<Offer> = names
        .into_iter()
        .map(|Named { name, what, refusal }| Offer { line: format!("{typed} {name}"), argument: "", what, refusal })
        .collect();
    match argument {
        // If the name typed so far has matches, show only those.
        Some(argument) if !argument.is_empty() && !names.is_empty() => names,
        _ => available_first(words.chain(names).collect()),
    }
}

/// Available commands first, then unavailable ones with their reasons.
fn available_first(mut offers: Vec<Offer>) -> Vec<Offer> {
    offers.sort_by_key(|offer| offer.refusal.is_some());
    offers
}

fn control_verb(word: &str) -> Option<ControlVerb> {
    ControlVerb::ALL.into_iter().find(|verb| verb.as_str() == word)
}

/// Why this command is unavailable now; `None` if it is available.
pub fn refusal(word: &str, here: Here) -> Option<&'static str> {
    let entry = entry(word)?;
    if !entry.place.is_of_pod() {
        return None;
    }
    let Some(now) = here.pod else { return Some(NOT_ATTACHED) };
    match entry.word {
        "allow" | "always" | "deny" | "option" | "fill" => (!now.asks).then_some("it has no pending approval"),
        "rewind" => allowed::rewind_refusal(now.state),
        "spawn" => allowed::spawn_refusal(now.state),
        "fork" => allowed::fork_refusal(now.state),
        "send" | "steer" => allowed::input_refusal(now.state),
        "peer" => allowed::peer_refusal(now.state),
        "unpeer" => (!now.knows).then_some("it has no peer"),
        "retry" => allowed::refusal(ControlVerb::Retry, now.state).or(now.no_retry),
        word => control_verb(word).and_then(|verb| allowed::refusal(verb, now.state)),
    }
}

/// The word of a command that is not in the table, and what follows it: it may be one of the person's own.
pub fn own_word(text: &str) -> Option<(String, String)> {
    let line = text.strip_prefix(':').unwrap_or(text).trim();
    let (word, arguments) = line.split_once(' ').map_or((line, ""), |(word, rest)| (word, rest.trim()));
    let is_own = !word.is_empty() && entry(word).is_none();
    is_own.then(|| (word.to_owned(), arguments.to_owned()))
}

/// Parses a line, with or without its colon. The error is a sentence to show.
pub fn parse(text: &str, here: Here) -> Result<Command, String> {
    let line = text.strip_prefix(':').unwrap_or(text).trim();
    let (word, argument) = line.split_once(' ').map_or((line, ""), |(word, rest)| (word, rest.trim()));
    if word.is_empty() {
        return Err(CHOOSE.to_owned());
    }
    let Some(entry) = entry(word).filter(|entry| here.has(entry.place)) else {
        return Err(format!("there is no command :{word}; type : to list commands"));
    };
    if let Some(refusal) = refusal(entry.word, here) {
        return Err(match here.pod {
            Some(_) => format!(":{word} is not available: {refusal}"),
            None => refusal.to_owned(),
        });
    }
    let named = |make: fn(String) -> Command| match argument {
        "" => Err(format!(":{word} needs a {} after it", entry.argument.to_ascii_lowercase())),
        text => Ok(make(text.to_owned())),
    };
    match entry.word {
        "rename" => named(Command::Rename),
        "fork" => named(Command::Fork),
        "commit" => named(Command::Commit),
        "worktree" => worktree(argument),
        "changes" => changes(argument),
        "model" if argument.is_empty() && here.client == Client::Terminal => {
            Err(":model needs a name after it; `yoi models` lists them".to_owned())
        }
        "model" => model(argument).map(Command::Model),
        "network" | "think" | "budget" | "autoresume" => setting(entry.word, argument),
        "mode" => named(Command::Mode),
        "option" => named(Command::Choose),
        "fill" => Ok(Command::Fill(argument.to_owned())),
        "preview" => preview(argument).map(Command::Preview),
        "key" => key(argument),
        "delete" => named(Command::Delete),
        "new" => named(Command::New),
        "import" => named(Command::Import),
        "open" => named(Command::Open),
        "send" => named(Command::Send),
        "steer" => named(Command::Steer),
        "attach" => named(Command::Attach),
        "unpeer" => named(Command::Unpeer),
        "always" => Ok(Command::Answer(Answer::Always(argument.to_owned()))),
        "deny" => Ok(Command::Answer(Answer::Deny(argument.to_owned()))),
        "spawn" => Ok(Command::Spawn(argument.to_owned())),
        "peer" => Ok(Command::Peer(argument.to_owned())),
        "search" => Ok(Command::Search(argument.to_owned())),
        "help" => help(argument),
        word if !argument.is_empty() => Err(format!(":{word} takes nothing after it")),
        "allow" => Ok(Command::Answer(Answer::Once)),
        "agent" => Ok(Command::Agent),
        "rewind" => Ok(Command::Rewind),
        "export" => Ok(Command::Export),
        "queue" => Ok(Command::Queue),
        "jobs" => Ok(Command::Jobs),
        "unqueue" => Ok(Command::TakeBack),
        "release" => Ok(Command::Held(HeldDecision::Release)),
        "drop" => Ok(Command::Held(HeldDecision::Drop)),
        "walls" => Ok(Command::Walls),
        "providers" => Ok(Command::Providers),
        "mcp" => Ok(Command::Servers),
        "quit" => Ok(Command::Quit),
        word => match (control_verb(word), Page::of(word)) {
            (Some(verb), _) => Ok(Command::Control(verb)),
            (None, Some(page)) => Ok(Command::Go(page)),
            (None, None) => Err(format!("there is no command :{word}")),
        },
    }
}

fn help(argument: &str) -> Result<Command, String> {
    match argument {
        "" => Ok(Command::Help(Topic::Keys)),
        "peer" | "peers" | "unpeer" => Ok(Command::Help(Topic::Peers)),
        other => Err(format!("no help on \"{other}\"; try :help or :help peer")),
    }
}

fn changes(argument: &str) -> Result<Command, String> {
    let since = Since::ALL.into_iter().find(|since| since.as_str() == argument);
    let since = if argument.is_empty() { Some(Since::default()) } else { since };
    since.map(Command::Changes).ok_or_else(|| ":changes takes start, turn or branch after it".to_owned())
}

fn worktree(argument: &str) -> Result<Command, String> {
    match argument {
        "merge" => Ok(Command::Worktree(WorktreeVerb::Merge)),
        "discard" => Ok(Command::Worktree(WorktreeVerb::Discard)),
        _ => Err(":worktree needs merge or discard after it".to_owned()),
    }
}

/// Parses a command that changes a setting of a Pod.
fn setting(word: &str, argument: &str) -> Result<Command, String> {
    match word {
        "network" => match NetworkPolicy::ALL.into_iter().find(|policy| policy.as_str() == argument) {
            Some(policy) => Ok(Command::Network(policy)),
            None => Err(":network needs none, ask or open after it".to_owned()),
        },
        "budget" => Budget::read(argument).map(Command::Budget),
        "autoresume" => match argument {
            "on" => Ok(Command::AutoResume(true)),
            "off" => Ok(Command::AutoResume(false)),
            _ => Err(":autoresume needs on or off after it".to_owned()),
        },
        _ => argument
            .parse()
            .map(Command::Think)
            .map_err(|_| ":think needs off, low, medium, high or max after it".to_owned()),
    }
}

/// Parses `NAME`, `NAME PROVIDER`, or nothing.
fn model(argument: &str) -> Result<Option<(String, Option<String>)>, String> {
    let words: Vec<_> = argument.split_whitespace().collect();
    match words.as_slice() {
        [] => Ok(None),
        [name] => Ok(Some(((*name).to_owned(), None))),
        [name, provider] => Ok(Some(((*name).to_owned(), Some((*provider).to_owned())))),
        _ => Err(":model takes a model's name and, after it, a provider's".to_owned()),
    }
}

/// Parses `PROVIDER`, or `NAME ADDRESS`. Never the key itself, because this line is visible on the screen.
fn key(argument: &str) -> Result<Command, String> {
    let words: Vec<_> = argument.split_whitespace().collect();
    let base_url = |text: &str| text.starts_with("http").then(|| text.to_owned());
    match words.as_slice() {
        [provider] => Ok(Command::Key { provider: (*provider).to_owned(), base_url: None }),
        [name, address] if base_url(address).is_some() => {
            Ok(Command::Key { provider: (*name).to_owned(), base_url: base_url(address) })
        }
        _ => {
            Err(":key needs a provider after it, such as openai; it then asks for the key and does not show it"
                .to_owned())
        }
    }
}

/// Parses `PORT`, `close PORT`, or nothing.
fn preview(argument: &str) -> Result<PreviewAct, String> {
    let port = |text: &str| match text.trim().parse() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(":preview needs a port from 1 to 65535 after it, or close and a port".to_owned()),
    };
    match argument.strip_prefix("close ") {
        _ if argument.is_empty() => Ok(PreviewAct::List),
        Some(rest) => port(rest).map(PreviewAct::Close),
        None => port(argument).map(PreviewAct::Open),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Here = on(PodState::Idle, false, false);
    const RUNNING: Here = on(PodState::Running, false, false);
    const ASKS: Here = on(PodState::Waiting, true, true);

    const fn on(state: PodState, asks: bool, knows: bool) -> Here {
        Here { client: Client::Browser, pod: Some(Standing { state, asks, knows, no_retry: None }) }
    }

    fn offers(text: &str, now: Here) -> Vec<Offer> {
        let named = |name: &str, refusal| Named { name: name.to_owned(), what: "idle".to_owned(), refusal };
        super::offers(text, now, |word, begun| {
            let all = [named("bob", None), named("bobbin", Some("is a peer already"))];
            let fits = |named: &Named| word == "peer" && named.name.starts_with(begun);
            all.into_iter().filter(fits).collect()
        })
    }

    fn words(text: &str) -> Vec<String> {
        offers(text, IDLE).into_iter().map(|offer| offer.line).collect()
    }

    #[test]
    fn typing_narrows_the_offers() {
        let browsers = TABLE.iter().filter(|entry| !entry.place.is_terminal());
        assert_eq!(words(":").len(), browsers.count(), "all but the terminal's own");
        assert_eq!(
            words(":re"),
            ["retry", "rewind", "rename", "resume", "restore"],
            "what does nothing now comes last"
        );
        assert_eq!(words(":rename eve"), ["rename"]);
        assert!(words(":x").is_empty() && words("pause").is_empty());
    }

    #[test]
    fn what_is_unavailable_is_offered_with_its_reason() {
        let offer = offers(":pause", IDLE).remove(0);
        assert_eq!(offer.refusal, Some("nothing is running"));
        assert_eq!(offers(":pause", RUNNING).remove(0).refusal, None);
        let answered = Standing { no_retry: Some("every message has its answer"), ..IDLE.pod.unwrap() };
        let here = Here { pod: Some(answered), ..IDLE };
        assert_eq!((refusal("retry", here), refusal("retry", IDLE)), (answered.no_retry, None));
        assert_eq!(parse(":retry", here), Err(":retry is not available: every message has its answer".to_owned()));
    }

    #[test]
    fn nothing_is_chosen_before_a_letter_and_nothing_grave_before_its_whole_word() {
        let chosen = |text: &str, now| {
            let all = offers(text, now);
            preselected(&all, text).map(|at| all[at].line.clone())
        };
        let all = offers(":", IDLE);
        assert!(all.is_sorted_by_key(|offer| offer.refusal.is_some()));
        assert_eq!((all[0].line.as_str(), chosen(":", IDLE)), ("stop", None), "a colon and Enter do nothing");
        assert_eq!(chosen(":s", IDLE).as_deref(), Some("spawn"), "the first that ends nothing");
        assert_eq!((chosen(":sto", IDLE), chosen(":d", IDLE), chosen(":al", ASKS)), (None, None, None));
        for word in [":stop", ":delete ada", ":unpeer bob", ":deny not today", ":always"] {
            let begun = word.trim_start_matches(':').split(' ').next();
            assert_eq!(chosen(word, ASKS).as_deref(), begun, "{word}");
        }
        assert_eq!(chosen(":pau", IDLE).as_deref(), Some("pause"), "with the reason why it does nothing");
        assert_eq!((chosen(":x", IDLE), chosen("stop", IDLE)), (None, None));
    }

    #[test]
    fn an_offer_knows_whether_the_line_has_it_already() {
        assert!(offers(":rename e", IDLE)[0].is_typed_in(":rename e"));
        assert!(!offers(":ren", IDLE)[0].is_typed_in(":ren"));
    }

    #[test]
    fn lines_are_read_or_refused_with_a_sentence() {
        let idle = |text| parse(text, IDLE);
        assert_eq!(idle(":stop"), Ok(Command::Control(ControlVerb::Stop)));
        assert_eq!(idle(":rename  eve "), Ok(Command::Rename("eve".into())));
        assert_eq!(idle(":think high"), Ok(Command::Think(Thinking::High)));
        assert_eq!(idle(":model gpt-5.4 openai"), Ok(Command::Model(Some(("gpt-5.4".into(), Some("openai".into()))))));
        assert_eq!(idle(":model qwen/qwen3:32b"), Ok(Command::Model(Some(("qwen/qwen3:32b".into(), None)))));
        let terminal = Here { client: Client::Terminal, pod: None };
        let key = |provider: &str, base_url: Option<&str>| {
            Ok(Command::Key { provider: provider.to_owned(), base_url: base_url.map(str::to_owned) })
        };
        assert_eq!(parse(":key openai", terminal), key("openai", None));
        assert_eq!(parse(":key lab http://lab:8080/v1", terminal), key("lab", Some("http://lab:8080/v1")));
        for line in [":key", ":key openai sk-123456", ":key a http://b c"] {
            assert!(parse(line, terminal).unwrap_err().contains("asks for the key and does not show it"), "{line}");
        }
        assert_eq!(parse(":providers", terminal), Ok(Command::Providers));
        assert_eq!(idle(":network none"), Ok(Command::Network(NetworkPolicy::None)));
        for (line, act) in [
            (":preview", PreviewAct::List),
            (":preview 5173", PreviewAct::Open(5173)),
            (":preview close 5173", PreviewAct::Close(5173)),
        ] {
            assert_eq!(idle(line), Ok(Command::Preview(act)), "{line}");
        }
        for line in [":preview 0", ":preview 65536", ":preview web", ":preview close"] {
            assert!(idle(line).unwrap_err().contains("a port from 1 to 65535"), "{line}");
        }
        assert_eq!(idle(":changes"), Ok(Command::Changes(Since::Start)));
        assert_eq!(idle(":changes turn"), Ok(Command::Changes(Since::Turn)));
        assert!(idle(":changes today").unwrap_err().contains("start, turn or branch"));
        assert_eq!(parse(":import old a.jsonl", terminal), Ok(Command::Import("old a.jsonl".into())));
        assert!(parse(":import", terminal).unwrap_err().contains("a name file after it"));
        assert_eq!(idle(":think hard"), Err(":think needs off, low, medium, high or max after it".into()));
        assert_eq!(idle(":model a b c"), Err(":model takes a model's name and, after it, a provider's".into()));
        assert_eq!(idle(":network of"), Err(":network needs none, ask or open after it".into()));
        assert_eq!(idle(":help"), Ok(Command::Help(Topic::Keys)));
        assert_eq!(idle(":help peer"), Ok(Command::Help(Topic::Peers)));
        assert_eq!(idle(":new"), Err(":new needs a name after it".into()));
        assert!(idle(":help me").unwrap_err().contains("no help on \"me\""));
        assert_eq!(idle(":resume"), Err(":resume is not available: it is not paused".into()));
        assert!(idle(":dance").unwrap_err().contains("no command :dance"));
    }

    #[test]
    fn a_question_is_answered_with_a_word_and_only_while_it_is_open() {
        let asks = |text| parse(text, ASKS);
        assert_eq!(asks(":allow"), Ok(Command::Answer(Answer::Once)));
        assert_eq!(asks(":approve"), Ok(Command::Answer(Answer::Once)));
        assert_eq!(asks(":always"), Ok(Command::Answer(Answer::Always(String::new()))));
        assert_eq!(asks(":always ls *"), Ok(Command::Answer(Answer::Always("ls *".to_owned()))));
        assert_eq!(asks(":deny"), Ok(Command::Answer(Answer::Deny(String::new()))));
        assert_eq!(asks(":deny not today"), Ok(Command::Answer(Answer::Deny("not today".into()))));
        assert_eq!(parse(":allow", IDLE), Err(":allow is not available: it has no pending approval".into()));
    }

    #[test]
    fn the_context_is_cut_only_between_runs() {
        for word in [":rewind", ":compact"] {
            assert!(parse(word, IDLE).is_ok(), "{word}");
            assert!(parse(word, RUNNING).unwrap_err().contains("a run is in progress"), "{word}");
        }
        assert_eq!(parse(":spawn tester", RUNNING), Ok(Command::Spawn("tester".into())));
    }

    #[test]
    fn a_peer_is_offered_by_its_name_with_the_reason_where_not() {
        assert_eq!(words(":peer "), ["peer", "peer bob", "peer bobbin"]);
        assert_eq!(words(":peer bobb"), ["peer bobbin"]);
        assert_eq!(offers(":peer bobb", IDLE)[0].refusal, Some("is a peer already"));
        assert_eq!(words(":peer eve"), ["peer"]);
        assert!(offers(":peer bob", IDLE)[0].is_typed_in(":peer bob"));
        assert!(!offers(":peer bob", IDLE)[1].is_typed_in(":peer bob"));
        assert_eq!(parse(":peer", RUNNING), Ok(Command::Peer(String::new())));
        assert_eq!(parse(":peer bob", ASKS), Ok(Command::Peer("bob".into())));
        assert_eq!(parse(":unpeer bob", ASKS), Ok(Command::Unpeer("bob".into())));
        assert_eq!(parse(":unpeer bob", IDLE), Err(":unpeer is not available: it has no peer".into()));
    }

    #[test]
    fn a_message_that_begins_with_a_colon_and_has_lines_is_a_message() {
        assert!(is_command(":") && is_command(":stop") && !is_command("a:") && !is_command(":a\nb"));
    }

    #[test]
    fn what_waits_is_changed_by_commands_of_the_terminal_alone() {
        let terminal = Here { client: Client::Terminal, ..RUNNING };
        assert_eq!(parse(":steer not there", terminal), Ok(Command::Steer("not there".into())));
        assert_eq!(parse(":steer", terminal), Err(":steer needs a text after it".into()));
        for (line, command) in [
            (":queue", Command::Queue),
            (":jobs", Command::Jobs),
            (":unqueue", Command::TakeBack),
            (":release", Command::Held(HeldDecision::Release)),
            (":drop", Command::Held(HeldDecision::Drop)),
        ] {
            assert_eq!(parse(line, terminal), Ok(command));
            assert!(parse(line, RUNNING).unwrap_err().contains("no command"), "{line}");
            assert_eq!(parse(line, Here { pod: None, ..terminal }), Err(NOT_ATTACHED.into()));
        }
    }

    #[test]
    fn without_a_pod_what_needs_one_is_not_attached_and_the_rest_works() {
        let nowhere = Here { client: Client::Terminal, pod: None };
        assert_eq!(parse(":peer bob", nowhere), Err(NOT_ATTACHED.into()));
        assert_eq!(parse(":stop", nowhere), Err(NOT_ATTACHED.into()));
        assert_eq!(parse(":quit", nowhere), Ok(Command::Quit));
        assert_eq!(parse(":open ada", nowhere), Ok(Command::Open("ada".into())));
        assert_eq!(parse(":approvals", nowhere), Ok(Command::Go(Page::Approvals)));
    }

    #[test]
    fn each_console_has_its_own_words_besides_the_shared_ones() {
        assert!(parse(":quit", IDLE).unwrap_err().contains("no command :quit"));
        let terminal = Here { client: Client::Terminal, ..IDLE };
        assert!(parse(":map", terminal).unwrap_err().contains("no command :map"));
        assert_eq!(parse(":map", IDLE), Ok(Command::Go(Page::Map)));
        assert_eq!(parse(":search lost cursor", IDLE), Ok(Command::Search("lost cursor".into())));
    }
}
