//! The typed client against the real router: what it asks for is what is done, and what is answered is what it gives.

use client::{Client, ClientError};
use protocol::{
    CommandId, CreatePod, ErrorCode, HeldCommand, HeldDecision, MessageCommand, PeerCommand, PeerLink, PeerPolicy,
    PodName, PodRef, ReceiptState, RequestCommand, RequestDecision,
};

use crate::{
    common::{Server, TOKEN, pod_path},
    until_some,
};

fn id() -> CommandId {
    CommandId::random()
}

fn to(target: &str) -> PeerCommand {
    PeerCommand { target: target.to_owned(), note: None }
}

async fn pod(client: &Client, name: &str, policy: PeerPolicy) -> PodRef {
    let create = CreatePod { peer_policy: Some(policy), ..CreatePod::named(PodName::parse(name).unwrap()) };
    client.create(&id(), &create).await.unwrap().pod
}

fn code<T: std::fmt::Debug>(result: Result<T, ClientError>) -> ErrorCode {
    result.unwrap_err().api().unwrap().code
}

#[tokio::test]
async fn the_typed_client_says_and_hears_all_of_it() {
    let server = Server::start().await;
    let client = Client::new(&format!("http://{}", server.address), TOKEN).unwrap();
    let ada = pod(&client, "ada", PeerPolicy::Open).await;
    let bob = pod(&client, "bob", PeerPolicy::Ask).await;

    let asked = client.introduce(&id(), &ada, &to("bob")).await.unwrap();
    let request = asked.request_id.clone().unwrap();
    assert_eq!((&asked.source, &asked.peer, asked.state), (&ada, &bob, PeerLink::Pending));
    let open = client.open_requests().await.unwrap().items;
    assert_eq!((open.len(), &open[0].request_id, &open[0].to), (1, &request, &bob));
    assert!(client.peers(&bob).await.unwrap().items[0].is_asked);
    let accept = RequestCommand { decision: RequestDecision::Accept };
    let linked = client.decide_request(&id(), &bob, &request, accept).await.unwrap();
    assert_eq!((&linked.source, &linked.peer, linked.state), (&bob, &ada, PeerLink::Linked));
    assert_eq!(code(client.decide_request(&id(), &bob, &request, accept).await), ErrorCode::AlreadyAnswered);

    let message = MessageCommand { to: "bob".to_owned(), text: "say hi".to_owned() };
    let key = id();
    let sent = client.send_message(&key, &ada, &message).await.unwrap();
    assert_eq!((sent.state, &client.send_message(&key, &ada, &message).await.unwrap()), (ReceiptState::Stored, &sent));
    let path = pod_path(&serde_json::to_value(&ada).unwrap());
    until_some(&server, &path, "message_receipt", |event| event["state"] == "answered").await;
    let exchange = client.exchange(&ada, &bob, None, 10).await.unwrap();
    assert_eq!((exchange.items.len(), &exchange.items[0].message_id), (1, &sent.message_id));
    assert_eq!((exchange.items[0].state, exchange.items[0].turn), (ReceiptState::Answered, Some(1)));
    assert_eq!(client.exchange(&bob, &ada, None, 10).await.unwrap(), exchange);
    assert_eq!(code(client.exchange(&ada, &bob, Some("x"), 10).await), ErrorCode::CursorInvalid);
    let release = HeldCommand { decision: HeldDecision::Release };
    assert_eq!(code(client.decide_held(&id(), &ada, &sent.message_id, release).await), ErrorCode::AlreadyAnswered);

    client.unlink(&id(), &bob, &ada).await.unwrap();
    client.unlink(&id(), &bob, &ada).await.unwrap();
    assert_eq!(client.peers(&ada).await.unwrap().items, []);
    assert_eq!(code(client.send_message(&id(), &ada, &message).await), ErrorCode::NotVisible);
    assert_eq!(code(client.introduce(&id(), &ada, &to("ada")).await), ErrorCode::PeerSelf);
}
