//! The palette's input, its results, and what Enter does with them.

use commands::{CHOOSE, Choice, Command, Does, Entry, Here, Offer, Topic, choices, found, is_command, remembered};
use leptos::prelude::*;
use protocol::{ErrorCode, PodRef};

use crate::{
    UiError,
    acting::{self, AtHand},
    console::{Console, Dialog, pod_href},
    live::{self, Memory},
};

/// How many lines are drawn; typing more narrows the list.
const SHOWN_MAX: usize = 50;

const RECENT: &str = "yoi:recent";

/// One line of the list.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Found {
    Choice(Choice),
    /// A completion of a line that begins with a colon.
    Offer(Offer),
}

impl Found {
    pub(super) fn refusal(&self) -> Option<&'static str> {
        match self {
            Self::Choice(choice) => choice.refusal,
            Self::Offer(offer) => offer.refusal,
        }
    }
}

/// What happens once the palette is closed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Next {
    Dialog(Box<Dialog>),
    Visit(String),
    Run(Command),
    /// Begins a message with this text.
    Write(String),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Search {
    console: Console,
    pod: StoredValue<Option<PodRef>>,
    pub(super) typed: RwSignal<String>,
    /// The line that the arrow keys have moved to.
    at: RwSignal<Option<usize>>,
    pub(super) lines: Memo<Vec<Found>>,
    /// `None` until an arrow key has chosen a line.
    pub(super) chosen: Memo<Option<usize>>,
    pub(super) error: RwSignal<Option<UiError>>,
    pub(super) next: StoredValue<Option<Next>>,
}

impl Search {
    pub(super) fn new(console: Console, pod: Option<PodRef>) -> Self {
        let (typed, at) = (RwSignal::new(String::new()), RwSignal::new(None::<usize>));
        let pod = StoredValue::new(pod);
        let recent: Vec<String> =
            live::kept(Memory::Local, RECENT).unwrap_or_default().lines().map(str::to_owned).collect();
        // A snapshot from when the palette was opened, so that nothing moves just as you press Enter.
        let pods = untrack(|| console.pods());
        let of_agent = untrack(|| at_hand(console, pod).map(|at| at.offers().commands)).unwrap_or_default();
        let lines = Memo::new(move |_| {
            typed.with(|typed| match is_command(typed) {
                true => offered(console, at_hand(console, pod), typed),
                false => {
                    let mut all = choices(&pods, here(console, pod));
                    all.extend(commands::of_agent(&of_agent));
                    chosen_from(&all, typed, &recent)
                }
            })
        });
        let chosen = Memo::new(move |_| {
            lines.with(|lines| match at.get() {
                Some(at) => Some(at.min(lines.len().saturating_sub(1))),
                None => typed.with(|typed| preselected(lines, typed)),
            })
        });
        let (error, next) = (RwSignal::new(None), StoredValue::new(None));
        Self { console, pod, typed, at, lines, chosen, error, next }
    }

    pub(super) fn at_hand(self) -> Option<AtHand> {
        at_hand(self.console, self.pod)
    }

    pub(super) fn has_lines(self) -> bool {
        self.lines.with(|lines| !lines.is_empty())
    }

    pub(super) fn type_in(self, text: String) {
        self.at.set(None);
        self.error.set(None);
        self.typed.set(text);
    }

    pub(super) fn step(self, by: isize) {
        let last = self.lines.with_untracked(Vec::len).saturating_sub(1);
        let to = self.chosen.get_untracked().map_or(0, |at| at.saturating_add_signed(by).min(last));
        self.at.set(Some(to));
    }

    fn chosen_line(self) -> Option<Found> {
        self.lines.with_untracked(|lines| lines.get(self.chosen.get_untracked()?).cloned())
    }

    /// Tab: completes the chosen command. Returns false if there is none to complete.
    pub(super) fn complete(self) -> bool {
        match self.chosen_line().or_else(|| self.first_line()) {
            Some(Found::Offer(offer)) => {
                self.type_in(format!(":{} ", offer.line));
                true
            }
            _ => false,
        }
    }

    /// The first match for what has been typed.
    fn first_line(self) -> Option<Found> {
        let is_begun = self.typed.with_untracked(|typed| !matches!(typed.trim(), "" | ":"));
        self.lines.with_untracked(|lines| lines.first().cloned()).filter(|_| is_begun)
    }

    /// Enter: takes the chosen line; for a command line with more typed than the chosen completion, what was typed.
    /// If nothing is preselected, completes the command's word, and the next Enter runs it.
    pub(super) fn enter(self) {
        match (self.chosen_line(), self.first_line()) {
            (Some(line), _) => self.take(line),
            (None, Some(Found::Offer(offer))) => self.type_in(format!(":{} ", offer.line)),
            (None, Some(Found::Choice(choice))) => {
                if let Does::Command(entry) = choice.does {
                    self.type_in(format!(":{} ", entry.word));
                }
            }
            (None, None) => self.run(&self.typed.get_untracked()),
        }
    }

    pub(super) fn take(self, line: Found) {
        match line {
            Found::Offer(offer) if self.typed.with_untracked(|typed| offer.is_typed_in(typed)) => {
                self.run(&self.typed.get_untracked());
            }
            Found::Offer(offer) if !offer.argument.is_empty() => self.type_in(format!(":{} ", offer.line)),
            Found::Offer(offer) => self.run(&format!(":{}", offer.line)),
            Found::Choice(choice) => self.choose(&choice),
        }
    }

    fn choose(self, choice: &Choice) {
        if let Some(reason) = choice.refusal {
            return self.refuse(format!("{} is not available: {reason}", choice.title));
        }
        let kept = live::kept(Memory::Local, RECENT).unwrap_or_default();
        let recent: Vec<String> = kept.lines().map(str::to_owned).collect();
        live::remember(Memory::Local, RECENT, Some(&remembered(&recent, &choice.id).join("\n")));
        match &choice.does {
            Does::Open(pod) => self.leave(Next::Visit(pod_href(pod))),
            Does::Go(page) => self.leave(Next::Visit(page.href().to_owned())),
            Does::Command(entry) => self.begin(entry),
            Does::Write(text) => self.leave(Next::Write(text.clone())),
        }
    }

    /// A command that needs an argument continues in its dialog, or here.
    fn begin(self, entry: &Entry) {
        let summary = untrack(|| self.at_hand()).map(|at| Box::new(at.summary));
        match (entry.word, summary) {
            ("new", _) => self.leave(Next::Dialog(Box::new(Dialog::NewPod))),
            ("help", _) => self.leave(Next::Dialog(Box::new(Dialog::Help(Topic::Keys)))),
            ("fork", Some(summary)) => self.leave(Next::Dialog(Box::new(Dialog::Fork(summary, None)))),
            ("commit", Some(summary)) => self.leave(Next::Dialog(Box::new(Dialog::Commit(summary)))),
            ("rename", Some(summary)) => self.leave(Next::Dialog(Box::new(Dialog::Rename(summary)))),
            ("delete", Some(summary)) => {
                self.leave(Next::Dialog(Box::new(Dialog::Delete { pod: summary, is_named: false })));
            }
            ("model", Some(summary)) => self.leave(Next::Dialog(Box::new(Dialog::Model(summary)))),
            ("deny" | "unpeer" | "send" | "network" | "mode" | "think" | "budget" | "autoresume" | "worktree", _) => {
                self.type_in(format!(":{} ", entry.word));
                live::focus("palette-field");
            }
            (word, _) => self.run(&format!(":{word}")),
        }
    }

    fn run(self, line: &str) {
        match line.trim() {
            ":" => return self.refuse(CHOOSE.to_owned()),
            line if !is_command(line) => return,
            _ => (),
        }
        let here = untrack(|| here(self.console, self.pod));
        match commands::parse(line.trim_end(), here) {
            Ok(command) => self.leave(Next::Run(command)),
            Err(sentence) => self.refuse(sentence),
        }
    }

    fn refuse(self, sentence: String) {
        self.error.set(Some(UiError::new(ErrorCode::InvalidInput, sentence)));
    }

    fn leave(self, next: Next) {
        self.next.set_value(Some(next));
        live::close_dialog("palette");
    }
}

fn at_hand(console: Console, pod: StoredValue<Option<PodRef>>) -> Option<AtHand> {
    AtHand::find(console, &pod.get_value()?)
}

fn here(console: Console, pod: StoredValue<Option<PodRef>>) -> Here {
    acting::here(console, at_hand(console, pod).as_ref())
}

fn offered(console: Console, at: Option<AtHand>, typed: &str) -> Vec<Found> {
    let names = |word: &str, begun: &str| acting::named(console, at.as_ref(), word, begun);
    commands::offers(typed, acting::here(console, at.as_ref()), names).into_iter().map(Found::Offer).collect()
}

/// Which line is chosen before an arrow key has been used.
fn preselected(lines: &[Found], typed: &str) -> Option<usize> {
    let offer = |line: &Found| match line {
        Found::Offer(offer) => Some(offer.clone()),
        Found::Choice(_) => None,
    };
    let offers: Vec<Offer> = lines.iter().filter_map(offer).collect();
    if !offers.is_empty() {
        return commands::preselected(&offers, typed);
    }
    let leads = |line: &Found| matches!(line, Found::Choice(choice) if choice.leads(typed));
    // With only unavailable lines the first is chosen, so that Enter gives its reason.
    let all_refused = || lines.iter().all(|line| line.refusal().is_some()).then_some(0);
    if typed.trim().is_empty() {
        return None;
    }
    lines.iter().position(leads).or_else(all_refused).filter(|at| *at < lines.len())
}

fn chosen_from(all: &[Choice], typed: &str, recent: &[String]) -> Vec<Found> {
    let found = found(all, typed, recent).into_iter().take(SHOWN_MAX);
    found.map(|index| Found::Choice(all[index].clone())).collect()
}

#[cfg(test)]
mod tests {
    use commands::{Page, samples::pod};
    use protocol::{ControlVerb, PodState};

    use super::*;

    /// A palette about the Pod of this name, with ada (running) and bob.
    fn palette(about: Option<&str>) -> Search {
        let owner = Owner::new();
        owner.set();
        let console = Console::provide();
        console.seed(vec![pod("ada", PodState::Running), pod("bob", PodState::Idle)]);
        let about = about.map(|name| pod(name, PodState::Idle).pod);
        let search = Search::new(console, about);
        // Signals live as long as their owner; it is leaked until the test process ends.
        std::mem::forget(owner);
        search
    }

    fn typed(search: Search, text: &str) -> Search {
        search.type_in(text.to_owned());
        search
    }

    fn refused(search: Search) -> String {
        search.error.get_untracked().map(|error| error.sentence().to_owned()).unwrap_or_default()
    }

    #[test]
    fn a_few_letters_and_enter_open_a_pod_or_a_page() {
        let search = typed(palette(None), "bo");
        search.enter();
        assert_eq!(search.next.get_value(), Some(Next::Visit("/pods/local/bob".into())));
        let search = typed(palette(None), "appr");
        search.enter();
        assert_eq!(search.next.get_value(), Some(Next::Visit(Page::Approvals.href().into())));
    }

    #[test]
    fn a_command_is_run_on_the_pod_at_hand_and_refused_with_the_reason() {
        let search = typed(palette(Some("ada")), "pause");
        search.enter();
        assert_eq!(search.next.get_value(), Some(Next::Run(Command::Control(ControlVerb::Pause))));
        let search = typed(palette(Some("bob")), "pause");
        search.enter();
        assert_eq!(search.next.get_value(), None);
        assert!(refused(search).contains("nothing is running"), "{}", refused(search));
        search.type_in("x".into());
        assert_eq!(refused(search), "", "typing on forgets it");
    }

    #[test]
    fn what_needs_words_after_it_goes_on_in_a_dialog_or_in_the_field() {
        let search = typed(palette(Some("bob")), "rename");
        search.enter();
        assert!(matches!(search.next.get_value(), Some(Next::Dialog(dialog)) if matches!(*dialog, Dialog::Rename(_))));
        let search = typed(palette(Some("bob")), "send");
        search.enter();
        assert_eq!((search.next.get_value(), search.typed.get_untracked()), (None, ":send ".to_owned()));
        search.type_in(":send hello there".into());
        search.enter();
        assert_eq!(search.next.get_value(), Some(Next::Run(Command::Send("hello there".into()))));
    }

    #[test]
    fn a_line_with_a_colon_is_completed_and_run_as_in_the_composer() {
        let search = typed(palette(Some("ada")), ":peer b");
        assert_eq!(search.lines.with_untracked(Vec::len), 1);
        search.enter();
        assert_eq!(search.next.get_value(), Some(Next::Run(Command::Peer("bob".into()))));
        let search = typed(palette(None), ":sto");
        assert!(search.complete());
        assert_eq!(search.typed.get_untracked(), ":stop ");
        search.enter();
        assert_eq!(refused(search), commands::NOT_ATTACHED);
    }

    #[test]
    fn arrows_move_the_choice_and_stop_at_the_ends() {
        let search = palette(None);
        assert_eq!(search.chosen.get_untracked(), None, "nothing is chosen beforehand");
        search.enter();
        assert_eq!(search.next.get_value(), None, "and Enter does nothing");
        search.step(-1);
        assert_eq!(search.chosen.get_untracked(), Some(0));
        search.step(1_000);
        assert_eq!(search.chosen.get_untracked().unwrap() + 1, search.lines.with_untracked(Vec::len));
    }

    #[test]
    fn a_command_that_is_only_described_by_the_letters_is_shown_in_full_before_it_runs() {
        let search = typed(palette(Some("bob")), "older context");
        search.enter();
        assert_eq!((search.next.get_value(), search.typed.get_untracked()), (None, ":compact ".to_owned()));
    }

    #[test]
    fn nothing_that_ends_something_is_done_by_a_few_letters_and_enter() {
        let search = typed(palette(Some("ada")), ":");
        search.enter();
        assert_eq!((search.next.get_value(), refused(search).as_str()), (None, CHOOSE));
        for begun in ["sto", ":sto"] {
            let search = typed(palette(Some("ada")), begun);
            search.enter();
            assert_eq!((search.next.get_value(), search.typed.get_untracked()), (None, ":stop ".to_owned()), "{begun}");
            search.enter();
            assert_eq!(search.next.get_value(), Some(Next::Run(Command::Control(ControlVerb::Stop))), "{begun}");
        }
        let search = typed(palette(Some("ada")), "stop");
        search.enter();
        assert_eq!(search.next.get_value(), Some(Next::Run(Command::Control(ControlVerb::Stop))), "its whole word");
    }
}
