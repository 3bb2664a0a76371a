//! A day in the life of a store, as a script: Pods come, talk, spawn, become peers, write to each other and go.

use bytes::Bytes;
use jiff::Timestamp;
use pod_store::{
    Batch, Checkpoint, CommandRow, FarChange, Fold, InboxRow, MailPut, MessageChange, NewMessage, NewPod, NewRecord,
    NewRequest, ParentLink, PeerChange, PodChange, PodKey, PodUpdate, RecordClass, RuleChange, RuleRow, SearchText,
    SessionRow, Spent, Store, StoreError, Tokens,
};
use protocol::{AuditEntry, Blobs, CommandId, PodName, PodState, ReceiptState, Segment, Seq, WorkerId};

/// One thing that happens.
#[derive(Debug, Clone)]
pub(crate) enum Deed {
    /// Written whatever it takes.
    Commit(Box<Batch>),
    Login(u8),
    Logout(u8),
    /// Another program copies the log into the database, as SQLite itself does every four thousand pages.
    Checkpoint,
    /// The server is stopped and started.
    Reopen,
}

impl Deed {
    pub(crate) fn changes_anything(&self) -> bool {
        !matches!(self, Self::Checkpoint | Self::Reopen)
    }
}

pub(crate) const ADA: PodKey = PodKey(1);
pub(crate) const BOB: PodKey = PodKey(2);
const EVE: PodKey = PodKey(3);

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + second).unwrap()
}

fn name(text: &str) -> PodName {
    PodName::parse(text).unwrap()
}

fn id(text: &str) -> CommandId {
    CommandId::parse(text).unwrap()
}

fn worker(text: &str) -> WorkerId {
    WorkerId::parse(&format!("id-of-{text}")).unwrap()
}

/// What is said is random, so that it takes the room that it takes.
pub(crate) fn body(pod: PodKey, seq: i64, size: usize) -> Bytes {
    let mut state = (pod.0 * 1_000_003 + seq) as u64;
    let letters = (0..size).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + (state >> 40) as u8 % 26)
    });
    let text: String = letters.collect();
    format!(
        r#"{{"seq":{seq},"at":"2026-11-21T10:00:00Z","event":{{"kind":"text_chunk","block":"b","text":"{text}"}}}}"#
    )
    .into()
}

fn record(pod: PodKey, seq: i64, class: RecordClass) -> NewRecord {
    let size = if seq % 7 == 0 { 9_000 } else { 200 };
    let text = (class == RecordClass::Turn).then(|| format!("word{seq} said by {}", pod.0));
    let search = text.map(|text| SearchText { kind: "user_message", text });
    NewRecord { seq: Seq(seq), class, body: body(pod, seq, size), search }
}

fn creation(text: &str) -> PodChange {
    let new = NewPod {
        worker_id: worker(text),
        name: name(text),
        spec: r#"{"model":"m"}"#.to_owned(),
        checkpoint: "{}".to_owned(),
        state: PodState::Idle,
        created_at: at(0),
    };
    PodChange::creating(new)
}

fn one(change: PodChange) -> Deed {
    all(vec![change])
}

fn all(changes: Vec<PodChange>) -> Deed {
    Deed::Commit(Box::new(Batch { changes, ..Batch::default() }))
}

/// Streaming text: chunks and nothing else.
fn chunks(pod: PodKey, from: i64, to: i64) -> Deed {
    let records = (from..=to).map(|seq| record(pod, seq, RecordClass::Chunk)).collect();
    one(PodChange { records, ..PodChange::of(pod) })
}

/// The finished record of a block, which replaces its chunks, with everything that comes with it.
fn finish(pod: PodKey, from: i64, seq: i64) -> PodChange {
    let checkpoint =
        Checkpoint { state: PodState::Running, open: seq % 2 == 0, json: format!("[{seq}]"), seq: Seq(seq) };
    let tokens = Tokens { input: 100, output: 10, ..Tokens::default() };
    let (provider, model) = ("p".to_owned(), "m".to_owned());
    PodChange {
        records: vec![record(pod, seq, RecordClass::Turn)],
        folds: vec![Fold { block: "b".to_owned(), from: Seq(from), to: Seq(seq - 1) }],
        spent: vec![Spent { at: at(seq), tokens, provider, model, begun_by: Some(worker("bob")), ends_run: true }],
        update: Some(PodUpdate { checkpoint: Some(checkpoint), updated_at: Some(at(seq)), ..PodUpdate::default() }),
        ..PodChange::of(pod)
    }
}

fn input(text: &str) -> InboxRow {
    InboxRow {
        command_id: id(text),
        segments: vec![Segment::text(text)],
        by: "ada".to_owned(),
        at: at(1),
        steers: false,
        blobs: Blobs::default(),
    }
}

/// A command with its receipt, its input and its line in the audit.
fn command(text: &str, pod: PodKey) -> Deed {
    let row = CommandRow { id: id(text), fingerprint: [7; 32], answer: format!("{{\"of\":\"{text}\"}}"), at: at(1) };
    let entry = AuditEntry {
        at: at(2),
        by: "you".to_owned(),
        client: "tui".to_owned(),
        action: "input".to_owned(),
        target: Some(text.to_owned()),
        result: "done".to_owned(),
        code: None,
        about: None,
    };
    let changes = vec![PodChange { inbox_put: vec![input(text)], ..PodChange::of(pod) }];
    Deed::Commit(Box::new(Batch { command: Some(row), changes, audit: vec![entry], ..Batch::default() }))
}

fn letter(from: PodKey, to: PodKey, key: &str) -> Deed {
    let mail = MailPut { to, key: key.to_owned(), body: format!("[\"{key}\"]"), at: at(3) };
    one(PodChange { mail_put: vec![mail], ..PodChange::of(from) })
}

fn peers(peers: Vec<PeerChange>, messages: Vec<MessageChange>) -> Deed {
    Deed::Commit(Box::new(Batch { peers, messages, ..Batch::default() }))
}

fn message(number: i64) -> MessageChange {
    MessageChange::Put(NewMessage {
        id: format!("message-{number}"),
        sender: ADA,
        receiver: BOB,
        call_id: format!("call-{number}"),
        text: format!("text of {number}"),
        hops: 1,
        state: ReceiptState::Stored,
        woke: false,
        at: at(number),
    })
}

fn session(mark: u8) -> SessionRow {
    let client = format!("Browser {mark}");
    SessionRow { hash: [mark; 32], client, created_at: at(1), seen_at: at(1), expires_at: at(1_000_000) }
}

/// What is in one line happens at once.
pub(crate) fn day() -> Vec<Vec<Deed>> {
    let child = PodChange { parent: Some(ParentLink { parent: ADA, scope: "[0]".to_owned() }), ..creation("bob") };
    let taken = PodChange { inbox_taken: vec![id("key-1")], ..finish(ADA, 4, 9) };
    let request = NewRequest {
        id: "request-1".to_owned(),
        from: EVE,
        to: BOB,
        note: Some("please".to_owned()),
        by: "eve".to_owned(),
        at: at(4),
        expires_at: at(400),
    };
    let rule =
        RuleRow { id: "rule-1".to_owned(), rule: r#"{"tool":"Bash"}"#.to_owned(), by: "you".to_owned(), at: at(5) };
    let told = FarChange::Send { store: "far".to_owned(), body: "[1]".to_owned() };
    let rules =
        Deed::Commit(Box::new(Batch { rules: vec![RuleChange::Put(rule)], far: vec![told], ..Batch::default() }));
    let link = PeerChange::Link { a: ADA, b: BOB, by: "you".to_owned(), at: at(4) };
    let read = MessageChange::State {
        id: "message-1".to_owned(),
        state: ReceiptState::Read,
        turn: Some(2),
        woke: true,
        at: at(9),
    };
    let took = PodChange { mail_taken: vec!["letter-1".to_owned()], ..finish(BOB, 1, 4) };
    let gone = PodChange { delete: true, ..PodChange::of(EVE) };
    let settled = PeerChange::RequestDone { id: "request-1".to_owned() };
    vec![
        vec![one(creation("ada"))],
        vec![one(child), one(creation("eve"))],
        vec![command("key-1", ADA), Deed::Login(1)],
        vec![chunks(ADA, 1, 3)],
        vec![chunks(ADA, 4, 5), chunks(BOB, 1, 2), chunks(EVE, 1, 1), chunks(ADA, 6, 8)],
        vec![one(taken), letter(ADA, BOB, "letter-1")],
        vec![Deed::Checkpoint],
        vec![chunks(BOB, 3, 3), rules, command("key-2", BOB)],
        vec![peers(vec![link, PeerChange::Request(request)], vec![message(1)]), Deed::Login(2)],
        vec![one(took), peers(vec![settled], vec![read, message(2)])],
        vec![Deed::Reopen],
        vec![chunks(ADA, 10, 13), chunks(BOB, 5, 6)],
        vec![one(finish(ADA, 10, 14)), command("key-3", ADA), Deed::Logout(1)],
        vec![Deed::Checkpoint],
        vec![one(gone)],
        vec![chunks(BOB, 7, 8), letter(BOB, ADA, "letter-2")],
        vec![peers(vec![PeerChange::Unlink { a: ADA, b: BOB }], vec![]), one(finish(BOB, 5, 9))],
    ]
}

/// The first deeds of a database that is only just made.
pub(crate) fn morning() -> Vec<Vec<Deed>> {
    day().into_iter().take(4).collect()
}

/// Does one deed.
pub(crate) async fn carry_out(store: &Store, deed: &Deed) -> Result<(), StoreError> {
    match deed {
        Deed::Commit(batch) => store.commit_with(pod_store::Patience::Endless, Batch::clone(batch)).await.map(|done| {
            assert!(matches!(done, pod_store::Committed::Done { .. }), "it happened twice: {done:?}");
        }),
        Deed::Login(mark) => store.sessions().put(session(*mark)).await,
        Deed::Logout(mark) => store.sessions().delete(&[*mark; 32]).await,
        Deed::Checkpoint | Deed::Reopen => Ok(()),
    }
}

/// All that a reader can see, one line for each thing.
pub(crate) async fn view(store: &Store) -> Result<Vec<String>, StoreError> {
    let mut lines = Vec::new();
    for pod in store.pods().page(None, 100).await? {
        lines.push(format!("{pod:?}"));
        let journal = store.journals().after(pod.key, Seq(0), 1_000, usize::MAX).await?;
        lines.extend(journal.iter().map(|record| format!("{}: {record:?}", pod.key.0)));
        let inputs = store.inboxes().inputs(pod.key).await?;
        lines.push(format!("{inputs:?} {:?}", store.inboxes().mail(pod.key).await?));
        lines.push(format!("{:?}", store.family().children(pod.key).await?));
        lines.push(format!("{:?}", store.peers().requests(pod.key).await?));
    }
    lines.push(format!("{:?}", store.peers().link(ADA, BOB).await?));
    lines.push(format!("{:?}", store.messages().of_pair(ADA, BOB, None, 100).await?));
    for key in ["key-1", "key-2", "key-3"] {
        lines.push(format!("{:?}", store.commands().find(&id(key)).await?));
    }
    lines.push(format!("{:?}", store.audit().page(None, 100).await?));
    lines.push(format!("{:?}", store.sessions().list(at(2)).await?));
    lines.push(format!("{:?}", store.usage().rows().await?));
    lines.push(format!("{:?} {:?}", store.rules().list().await?, store.far().position("far").await?));
    lines.push(format!("{:?}", store.search().find("said", 100).await?));
    Ok(lines)
}
