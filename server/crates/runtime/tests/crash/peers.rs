//! The story of Pods that become peers and write to each other, and what has to be true of it after a kill.

use protocol::{CreatePod, InputCommand, PeerPolicy, PodState, ReceiptState, RequestDecision, WorkerId};
use runtime::Host;

use crate::{
    print_line,
    relation::{NOTE, Pair, is_in, links, pod_ref},
    stage::{key, named, origin, records_of, say, until_of},
};

/// How the attempts to make peers end, each in the order of the story.
const OF_BEN: [&str; 3] = ["peer_linked", "peer_unlinked", "peer_linked"];
const OF_CID: [&str; 2] = ["peer_requested", "peer_linked"];
const ASK_BEN: &str = "call SendToPeerPod {\"name\": \"ben\", \"message\": \"say got it\"}\nsay sent";

/// `ann` and `ben` become peers, write to each other, stop being peers, and become peers again; `cid` gets a request,
/// and accepts.
pub(crate) async fn play(host: Host) {
    let create = async |name: &str, policy| {
        let create = CreatePod { peer_policy: policy, ..named(name) };
        host.pods().create(key(&format!("create-{name}")), &origin(), create).await.unwrap().pod.worker_id
    };
    let ann = create("ann", None).await;
    let ben = create("ben", None).await;
    let cid = create("cid", Some(PeerPolicy::Ask)).await;
    print_line(&format!("peers {ann} {ben} {cid}"));
    introduce(&host, "p1", &ann, &ben).await;
    host.work().input(key("p2"), &origin(), &ann, say(ASK_BEN)).await.unwrap();
    print_line("peer_accepted p2");
    until_of(&host, &ann, |records| is_in(records, "message_receipt", &["answered"])).await;
    let sent = host.peers().send(key("p3"), &origin(), &ben, &ann, "say hello ben").await.unwrap();
    print_line(&format!("peer_message p3 {}", sent.message_id));
    until_of(&host, &ben, |records| is_in(records, "message_receipt", &["answered"])).await;
    host.peers().unlink(key("p4"), &origin(), &ben, &pod_ref(&ann)).await.unwrap();
    print_line("peer_link p4");
    introduce(&host, "p5", &ben, &ann).await;
    introduce(&host, "p6", &ann, &cid).await;
    let request = host.peers().open_requests().await.unwrap().remove(0).request_id;
    host.peers().decide_request(key("p7"), &origin(), &cid, &request, RequestDecision::Accept).await.unwrap();
    print_line("peer_request p7");
    let relay = "relay cid\nsay passed on";
    let sent = host.peers().send(key("p8"), &origin(), &ben, &ann, relay).await.unwrap();
    print_line(&format!("peer_message p8 {}", sent.message_id));
    until_of(&host, &cid, |records| is_in(records, "message_receipt", &["answered"])).await;
}

async fn introduce(host: &Host, id: &str, source: &WorkerId, target: &WorkerId) {
    host.peers().introduce(key(id), &origin(), source, target, Some(NOTE.to_owned())).await.unwrap();
    print_line(&format!("{} {id}", if id == "p6" { "peer_request" } else { "peer_link" }));
}

/// What the child process was told of this story before it died.
#[derive(Default)]
pub(crate) struct Witness {
    pods: Vec<WorkerId>,
    accepted: Vec<String>,
    links: Vec<String>,
    requests: Vec<String>,
    /// Key and message id.
    messages: Vec<(String, String)>,
}

impl Witness {
    pub(crate) fn hear(&mut self, word: &str, rest: &str) {
        match word {
            "peers" => self.pods = rest.split(' ').map(|id| WorkerId::parse(id).unwrap()).collect(),
            "peer_accepted" => self.accepted.push(rest.to_owned()),
            "peer_link" => self.links.push(rest.to_owned()),
            "peer_request" => self.requests.push(rest.to_owned()),
            "peer_message" => {
                let (id, message) = rest.split_once(' ').unwrap();
                self.messages.push((id.to_owned(), message.to_owned()));
            }
            _ => (),
        }
    }
}

/// Compares the three Pods with each other, and with what the child process was told.
pub(crate) async fn check(name: &str, host: &Host, witness: &Witness) {
    let [ann, ben, cid] = witness.pods.as_slice() else { return };
    let (of_ben, of_cid) = (Pair::new(host, ann, ben), Pair::new(host, ann, cid));
    for (pair, story, told) in [(&of_ben, &OF_BEN[..], &witness.links), (&of_cid, &OF_CID, &witness.requests)] {
        let steps = pair.check(name).await;
        assert!(story.starts_with(&steps.iter().map(String::as_str).collect::<Vec<_>>()), "{name}: {steps:?}");
        // There may be one more on disk than anybody was told of.
        assert!((told.len()..=told.len() + 1).contains(&steps.len()), "{name}: {told:?} were told, there is {steps:?}");
    }
    let mut messages = of_ben.messages().await;
    messages.extend(of_cid.messages().await);
    for (id, message) in &witness.messages {
        assert!(messages.iter().any(|known| known.message_id == *message), "{name}: {id} {message} is lost");
    }
    assert!(messages.iter().all(|message| message.state != ReceiptState::Held), "{name}: {messages:?}");
    check_repeats(name, host, witness, [ann, ben, cid]).await;
    assert_eq!(links(host, ben).await.len(), usize::from(links(host, ann).await.contains(ben)), "{name}");
}

/// The same commands again change only what a lost answer left open.
async fn check_repeats(name: &str, host: &Host, witness: &Witness, [ann, ben, cid]: [&WorkerId; 3]) {
    let all = async || {
        let mut all = Vec::new();
        for pod in [ann, ben, cid] {
            all.push(records_of(host, pod).await);
        }
        all
    };
    for pod in [ann, ben, cid] {
        let state = host.pods().get(pod).await.unwrap().summary.state;
        assert!(matches!(state, PodState::Idle | PodState::Paused), "{name}: {state:?}");
    }
    let before = all().await;
    for id in &witness.accepted {
        let input = InputCommand { queue: true, ..say("something else, which the key must keep out") };
        host.work().input(key(id), &origin(), ann, input).await.unwrap();
    }
    for id in witness.links.iter().chain(&witness.requests) {
        let done = match id.as_str() {
            "p1" => host.peers().introduce(key(id), &origin(), ann, ben, None).await.map(drop),
            "p4" => host.peers().unlink(key(id), &origin(), ben, &pod_ref(ann)).await,
            "p5" => host.peers().introduce(key(id), &origin(), ben, ann, None).await.map(drop),
            "p6" => host.peers().introduce(key(id), &origin(), ann, cid, None).await.map(drop),
            _ => host.peers().decide_request(key(id), &origin(), cid, "", RequestDecision::Decline).await.map(drop),
        };
        done.unwrap_or_else(|error| panic!("{name}: {id} {error}"));
    }
    for (id, message) in &witness.messages {
        let again = host.peers().send(key(id), &origin(), ben, ann, "something else").await.unwrap();
        assert_eq!(again.message_id, *message, "{name}: {id}");
    }
    assert_eq!(all().await, before, "{name}: a repeat changed something");
}
