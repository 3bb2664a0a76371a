//! The typed client against the real router: its requests are carried out, and their answers are what it returns.

use client::{Client, ClientError};
use protocol::{
    CommandId, CreatePod, ErrorCode, HeldCommand, HeldDecision, MessageCommand, PeerCommand, PeerLink, PeerPolicy,
    PodName, PodRef, ReceiptState, RequestCommand, RequestDecision,
};
use protocol::{
    operation::{Filled, Limit, Loose, Page},
    operations,
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
    client.carry_out(&id(), &operations::Create { body: create.clone() }).await.unwrap().pod
}

fn code<T: std::fmt::Debug>(result: Result<T, ClientError>) -> ErrorCode {
    result.unwrap_err().api().unwrap().code
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one story")]
async fn the_typed_client_says_and_hears_all_of_it() {
    let server = Server::start().await;
    let client = Client::new(&format!("http://{}", server.address), TOKEN).unwrap();
    let ada = pod(&client, "ada", PeerPolicy::Open).await;
    let bob = pod(&client, "bob", PeerPolicy::Ask).await;

    let asked =
        client.carry_out(&id(), &operations::Introduce { pod: ada.clone(), body: to("bob") }).await.unwrap().answer;
    let request = asked.request_id.clone().unwrap();
    assert_eq!((&asked.source, &asked.peer, asked.state), (&ada, &bob, PeerLink::Pending));
    let open =
        client.read(&operations::OpenRequests { runtime: Filled(None), page: Page::default() }).await.unwrap().items;
    assert_eq!((open.len(), &open[0].request_id, &open[0].to), (1, &request, &bob));
    assert!(
        client.read(&operations::Peers { pod: bob.clone(), page: Page::default() }).await.unwrap().items[0].is_asked
    );
    let accept = RequestCommand { decision: RequestDecision::Accept };
    let linked = client
        .carry_out(&id(), &operations::DecideRequest { pod: bob.clone(), request_id: request.to_owned(), body: accept })
        .await
        .unwrap();
    assert_eq!((&linked.source, &linked.peer, linked.state), (&bob, &ada, PeerLink::Linked));
    assert_eq!(
        code(
            client
                .carry_out(
                    &id(),
                    &operations::DecideRequest { pod: bob.clone(), request_id: request.to_owned(), body: accept }
                )
                .await
        ),
        ErrorCode::AlreadyAnswered
    );

    let message = MessageCommand { to: "bob".to_owned(), text: "say hi".to_owned() };
    let key = id();
    let sent =
        client.carry_out(&key, &operations::SendMessage { pod: ada.clone(), body: message.clone() }).await.unwrap();
    assert_eq!(
        (
            sent.state,
            &client
                .carry_out(&key, &operations::SendMessage { pod: ada.clone(), body: message.clone() })
                .await
                .unwrap()
        ),
        (ReceiptState::Stored, &sent)
    );
    let path = pod_path(&serde_json::to_value(&ada).unwrap());
    until_some(&server, &path, "message_receipt", |event| event["state"] == "answered").await;
    let exchange = client
        .read(&operations::Exchange { pod: ada.clone(), peer: bob.clone(), before: Loose(None), limit: Limit(10) })
        .await
        .unwrap();
    assert_eq!((exchange.items.len(), &exchange.items[0].message_id), (1, &sent.message_id));
    assert_eq!((exchange.items[0].state, exchange.items[0].turn), (ReceiptState::Answered, Some(1)));
    assert_eq!(
        client
            .read(&operations::Exchange { pod: bob.clone(), peer: ada.clone(), before: Loose(None), limit: Limit(10) })
            .await
            .unwrap(),
        exchange
    );
    assert_eq!(
        code(
            client
                .read(&operations::Exchange {
                    pod: ada.clone(),
                    peer: bob.clone(),
                    before: Loose(Some("x".to_owned())),
                    limit: Limit(10)
                })
                .await
        ),
        ErrorCode::CursorInvalid
    );
    let release = HeldCommand { decision: HeldDecision::Release };
    assert_eq!(
        code(
            client
                .carry_out(
                    &id(),
                    &operations::DecideHeld { pod: ada.clone(), message_id: sent.message_id.to_owned(), body: release }
                )
                .await
        ),
        ErrorCode::AlreadyAnswered
    );

    client.carry_out(&id(), &operations::Unlink { pod: bob.clone(), peer: ada.clone() }).await.unwrap();
    client.carry_out(&id(), &operations::Unlink { pod: bob.clone(), peer: ada.clone() }).await.unwrap();
    assert_eq!(client.read(&operations::Peers { pod: ada.clone(), page: Page::default() }).await.unwrap().items, []);
    assert_eq!(
        code(client.carry_out(&id(), &operations::SendMessage { pod: ada.clone(), body: message.clone() }).await),
        ErrorCode::NotVisible
    );
    assert_eq!(
        code(client.carry_out(&id(), &operations::Introduce { pod: ada.clone(), body: to("ada") }).await),
        ErrorCode::PeerSelf
    );
}
