//! A day of real work, as one story in real Chromium: an engineer at the desk gives a Pod a work tree and a task, answers
//! its questions from a phone, reviews what it did, takes one hunk back, commits, merges and archives.

#![allow(clippy::unwrap_used)]

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    repository::{git, repository},
    scripted_model::{Answer, ScriptedModel},
    yoi::{Launch, YoiProcess},
};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

const BEFORE: &str = "\
# Refunds, in cents.

# The share of one line: TOTAL PERCENT.
share() {
    echo $(($1 * $2 / 100))
}

# The shares of three lines: TOTAL A B C.
shares() {
    share $1 $2; share $1 $3; share $1 $4
}

# What is left of a voucher: VOUCHER PAID.
left() {
    echo $(($1 - $2))
}

# Prints an amount: CENTS.
print_amount() {
    printf '%d.%02d\\n' $(($1 / 100)) $(($1 % 100))
}
";

const LOST: &str = "    share $1 $2; share $1 $3; share $1 $4\n";
const FOUND: &str = "    one=$(share $1 $2) two=$(share $1 $3)\n    echo $one $two $(($1 - $one - $two))\n";
const PRINT: &str = "print_amount() {\n";
const NOISY: &str = "print_amount() {\n    echo \"amount $1\" >&2\n";
const TITLE: &str = "# The shares of three lines: TOTAL A B C.\n";
const LONGER_TITLE: &str = "# The shares of three lines: TOTAL A B C. The last one gets the rest.\n";

const TEST: &str = "\
. src/refunds.sh
sum=0
for part in $(shares 1001 33 33 34); do sum=$((sum + part)); done
[ $sum = 1001 ] || { echo \"the parts of 1001 are $sum\"; exit 1; }
echo \"$1: every cent is there\"
";

/// What the engineer wants to keep.
const KEPT: &str = "src/legacy.sh";

const TASK: &str = "Refunds lose a cent on some orders. Find it, fix it and run the tests.";
const DENIAL: &str = "keep it, the archive still reads it";

/// A repository with one commit on `main`, a scripted model, and a server that uses it.
struct Stage {
    yoi: YoiProcess,
    model: ScriptedModel,
    repository: PathBuf,
}

impl Stage {
    async fn set() -> Self {
        let launch = Launch::new(YOI);
        let work = launch.work_dir().canonicalize().unwrap();
        let files = [("src/refunds.sh", BEFORE), ("test.sh", TEST), (KEPT, "# Vouchers of 2019.\n")];
        let repository = repository(&work, "orchard", &files);
        git(&repository, &["config", "user.name", "Kim"]);
        let model = ScriptedModel::start().await;
        let config = work.with_file_name("yoi.toml");
        let settings = format!(
            "[providers.lab]\nkind = \"openai-compatible\"\nbase_url = \"{}\"\nmodels = [\"coder\"]\n",
            model.base_url()
        );
        fs::write(&config, settings).unwrap();
        let yoi = launch.arg("--config").arg(config.to_str().unwrap()).start().await;
        Self { yoi, model, repository }
    }

    /// What the model will do: the task, then what the review asks for.
    fn script(&self) {
        let fixed = BEFORE.replace(LOST, FOUND).replace(PRINT, NOISY);
        let turns = [
            call("I read the code first.", "Read", json!({ "path": "src/refunds.sh" })),
            call(
                "Each share is rounded by itself, so the rest is lost.",
                "Write",
                json!({ "path": "src/refunds.sh", "content": fixed }),
            ),
            call("", "Bash", json!({ "command": "sh test.sh refunds" })),
            call("The old vouchers are not used.", "Bash", json!({ "command": format!("git rm -q {KEPT}") })),
            call("Then it stays. Once more, everything:", "Bash", json!({ "command": "sh test.sh everything" })),
            Answer::say("The cent is back: the last line gets the **rest**. The tests pass."),
            call(
                "Both comments are right.",
                "Edit",
                json!({ "path": "src/refunds.sh", "old": TITLE.trim_end(), "new": LONGER_TITLE.trim_end() }),
            ),
            Answer::say("The comment says who gets the rest. Nothing needs the echo; take it out if you like."),
        ];
        turns.into_iter().for_each(|turn| self.model.push(turn));
    }

    fn tree(&self) -> PathBuf {
        self.repository.with_file_name("orchard.worktrees").join("refunds")
    }

    fn in_tree(&self, path: &str) -> String {
        fs::read_to_string(self.tree().join(path)).unwrap()
    }
}

/// An answer with one call.
fn call(text: &str, tool: &str, arguments: Value) -> Answer {
    let said = if text.is_empty() { Answer::new() } else { Answer::new().text(text) };
    said.tool_call("c1", tool, &[&arguments.to_string()]).finish()
}

/// At the desk: a Pod in a work tree of its own, and its task.
async fn begins(stage: &Stage, desk: &Browser) {
    desk.shortcut("n").await;
    desk.wait_focus("new-pod-name").await;
    desk.keys("refunds").await;
    desk.press("#new-pod summary").await;
    desk.press("#new-pod-cwd").await;
    desk.keys(stage.repository.to_str().unwrap()).await;
    desk.wait_text("#new-pod-cwd-list", "/orchard/").await;
    desk.keys(Key::Escape + "").await;
    desk.scroll_to("#new-pod-worktree").await;
    desk.press("#new-pod-worktree").await;
    desk.wait_text("#new-pod", "Leave it empty to name it after the Pod.").await;
    desk.press("#new-pod button[type=submit]").await;
    desk.wait_focus("message").await;
    desk.wait_text("main .head .meta", "⎇ refunds in orchard").await;
    desk.send(TASK).await;
    desk.wait_text("main .head", "waiting").await;
    desk.wait_text("main article[data-question]", "+3 −1").await;
}

/// An open question on the page of approvals; the board, from which one comes, has them, too.
const CARD: &str = "main .inbox article[data-question]";

/// On the phone: three questions, each answered in another way.
async fn answers(stage: &Stage, phone: &Browser) {
    phone.wait_text(".bottom a[href='/approvals']", "1").await;
    phone.tap(".bottom a[href='/approvals']").await;

    // What would be written is seen before it is allowed.
    phone.wait_text(CARD, "Write").await;
    phone.wait_text(&format!("{CARD} .line-removed"), "share $1 $4").await;
    phone.wait_text(&format!("{CARD} .line-added"), "$1 - $one - $two").await;
    assert_eq!(stage.in_tree("src/refunds.sh"), BEFORE, "nothing is written before it is allowed");
    answer(phone, "a").await;
    phone.wait_text("main .inbox article.tool", "allowed by you").await;

    phone.wait_text(CARD, "sh test.sh refunds").await;
    answer(phone, "A").await;
    phone.wait_text(&format!("{CARD} .always"), "sh test.sh with any arguments").await;
    let pattern = "return [...document.querySelectorAll('.always .pick')] \
        .find(pick => pick.querySelector('code')?.innerText === 'sh test.sh *').querySelector('input').id";
    let pattern = format!("label:has(> #{})", phone.eval(pattern).await.as_str().unwrap());
    phone.scroll_to(&pattern).await;
    phone.tap(&pattern).await;
    let allow = format!("{CARD} .always > button");
    phone.wait_text(&allow, "Always allow").await;
    phone.scroll_to(&allow).await;
    phone.tap(&allow).await;

    phone.wait_text(CARD, &format!("git rm -q {KEPT}")).await;
    answer(phone, "d").await;
    let reason = format!("{CARD} .denial input");
    phone.scroll_to(&reason).await;
    phone.tap(&reason).await;
    phone.keys(DENIAL).await;
    let deny = format!("{CARD} .denial button");
    phone.scroll_to(&deny).await;
    phone.tap(&deny).await;
    phone.wait_text("main .inbox article.tool", &format!("denied by you: {DENIAL}")).await;
    phone.wait_text("main .inbox [role=status]", "No approvals pending.").await;
    assert_eq!(phone.eval("return document.documentElement.scrollWidth <= innerWidth").await, json!(true));
}

/// Taps one of the answers of the open question.
async fn answer(phone: &Browser, key: &str) {
    let button = format!("{CARD} [data-answer='{key}']");
    phone.scroll_to(&button).await;
    phone.tap(&button).await;
}

/// At the desk: two comments on lines, sent as one message, and the turn that follows.
async fn reviews(stage: &Stage, desk: &Browser) {
    // What follows changes files of the work tree only, so it is not asked about any more.
    desk.shortcut("i").await;
    desk.wait_focus("message").await;
    desk.chord(Key::Shift, Key::Tab).await;
    desk.wait_text(".notices", "refunds: mode is accept edits.").await;

    desk.press("main .review-button").await;
    desk.wait_text("main h1", "Changes").await;
    desk.wait_text(".changes-counts", "1 file").await;
    desk.wait_script("return document.querySelectorAll('.hunk').length === 2").await;
    desk.shortcut("j").await;
    desk.wait_focus("hunk-0-0").await;
    desk.keys("c").await;
    desk.wait_focus("comment").await;
    desk.keys("Say above it who gets the rest.").await;
    desk.chord(Key::Control, Key::Enter).await;
    desk.wait_text(".changes-side h2", "1").await;
    let line = BEFORE.replace(LOST, FOUND).replace(PRINT, NOISY).lines().position(|line| line.contains(">&2")).unwrap();
    desk.press(&format!("button[aria-label='Comment on line {}']", line + 1)).await;
    desk.wait_focus("comment").await;
    desk.keys("Does anything need this?").await;
    desk.press_button("Add comment").await;
    desk.press("#review-text").await;
    desk.keys("Good find.").await;
    let asked = stage.model.requests().len();
    desk.button("Send 2 comments").await;
    desk.shortcut("S").await;
    desk.wait_focus("review-send").await;
    desk.keys(Key::Enter + "").await;
    desk.wait_text(".changes-side", "Sent.").await;

    let questions = stage.model.wait_for_requests(asked + 2).await;
    let messages = questions[asked].body["messages"].as_array().unwrap();
    let newest = messages.last().unwrap();
    assert_eq!(newest["role"], "user");
    let told = newest["content"].as_str().unwrap();
    for part in
        ["src/refunds.sh:", "Say above it", "> ", "echo \"amount $1\"", "Does anything need this?", "Good find."]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    desk.press_link("See what refunds does with it").await;
    desk.wait_text("main .log", "The comment says who gets the rest.").await;
    desk.wait_text("main .head", "idle").await;
    assert_eq!(said(desk).await, 2, "both comments are one message");
}

/// The messages of a person in the transcript.
async fn said(desk: &Browser) -> usize {
    desk.eval("return document.querySelectorAll('main .log .person').length").await.as_u64().unwrap() as usize
}

/// At the desk: the hunk that nothing needs is taken back.
async fn reverts(stage: &Stage, desk: &Browser) {
    desk.press("main .review-button").await;
    desk.wait_text(".changes-files", "The last one gets the rest.").await;
    desk.wait_script("return document.querySelectorAll('.hunk').length === 2").await;
    desk.shortcut("j").await;
    desk.wait_focus("hunk-0-0").await;
    desk.keys("j").await;
    desk.wait_focus("hunk-0-1").await;
    desk.keys("x").await;
    desk.button("Undo revert").await;
    desk.wait_script("return document.querySelectorAll('.hunk').length === 1").await;
    assert!(!stage.in_tree("src/refunds.sh").contains(">&2"));
    desk.press(".changes-head .back").await;
    desk.wait_text("main .head", "refunds").await;
}

/// At the desk: commit, merge, archive.
async fn lands(desk: &Browser) {
    desk.shortcut(":commit Give the rest of a refund to its last line").await;
    desk.keys(Key::Enter + "").await;
    desk.wait_text(".notices", "refunds: committed 1 file.").await;
    desk.wait_text("main .head .meta", "1 ahead").await;
    choose(desk, "Merge its branch…").await;
    desk.wait_dialog("Merge refunds into main").await;
    desk.press("#worktree-submit").await;
    desk.wait_text(".notices", "refunds: main was fast-forwarded to refunds.").await;
    choose(desk, "Archive").await;
    desk.wait_text(".notices", "Archived refunds.").await;
    desk.wait_text("main .head", "stopped").await;
}

/// Chooses an entry of the Pod's menu.
async fn choose(desk: &Browser, entry: &str) {
    desk.press("#pod-more-summary").await;
    desk.press_button(entry).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn browser_a_day_of_work_from_a_task_over_a_phone_and_a_review_to_main() {
    let stage = Stage::set().await;
    stage.script();
    let desk = Browser::open(&stage.yoi, 1440, 900).await;
    begins(&stage, &desk).await;

    let phone = Browser::open(&stage.yoi, 360, 780).await;
    phone.emulate_touch().await;
    answers(&stage, &phone).await;
    phone.no_errors().await;
    phone.quit().await;

    // The desk has seen it all: what was allowed, what was denied and why, and what the rule let pass.
    desk.wait_text("main .log", "The cent is back: the last line gets the rest.").await;
    desk.wait_text("main .head", "idle").await;
    let log = desk.texts("main .log").await.concat();
    for part in ["sh test.sh refunds", "refunds: every cent is there", DENIAL, "everything: every cent is there"] {
        assert!(log.contains(part), "{part}: {log}");
    }
    assert!(stage.tree().join(KEPT).exists(), "what was denied did not happen");

    reviews(&stage, &desk).await;
    reverts(&stage, &desk).await;
    lands(&desk).await;
    desk.no_errors().await;
    desk.quit().await;

    // What git says.
    let repository = &stage.repository;
    assert_eq!(
        git(repository, &["log", "-1", "--format=%s|%an", "main"]).trim(),
        "Give the rest of a refund to its last line|Kim"
    );
    assert_eq!(git(repository, &["rev-parse", "main"]), git(repository, &["rev-parse", "refunds"]));
    let expected = BEFORE.replace(LOST, FOUND).replace(TITLE, LONGER_TITLE);
    assert_eq!(git(repository, &["show", "main:src/refunds.sh"]), expected, "the reverted hunk is absent");
    assert_eq!(git(repository, &["diff", "--name-only", "main~1", "main"]).trim(), "src/refunds.sh");
    assert_eq!(git(repository, &["status", "--porcelain"]), "");
    assert_eq!(fs::read_to_string(repository.join("src/refunds.sh")).unwrap(), expected);
}
