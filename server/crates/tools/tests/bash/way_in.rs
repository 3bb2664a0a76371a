//! A preview of what a command serves reaches the ports of its sandbox's own loopback and nothing else.

use std::io::ErrorKind;

use serde_json::json;
use testkit::{until, until_so};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::mpsc,
};
use tools::{
    Network, Place, Tool,
    bash::Bash,
    preview::{WayIn, connect, listening},
};

use crate::stage::Stage;

/// Sends "inside" to whoever connects to port 5173 of one loopback, and how many bytes it received.
fn serving(address: &str, family: &str) -> String {
    format!(
        "exec /usr/bin/python3 -c \"
import socket
server = socket.socket(socket.{family}, socket.SOCK_STREAM)
server.bind(('{address}', 5173))
server.listen()
while True:
    one, _ = server.accept()
    one.sendall(b'inside ' + one.recv(100))
    one.close()
\""
    )
}

pub(crate) async fn what_a_command_serves_is_reached_from_outside_and_nothing_beside_it() {
    let outside = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let outside = outside.local_addr().unwrap().port();
    for (address, family) in [("127.0.0.1", "AF_INET"), ("::1", "AF_INET6")] {
        let stage = Stage::new();
        let way_in = WayIn::open().unwrap();
        let place = Place { network: Network::None, way_in: Some(way_in.socket()), ..stage.place() };
        let bash = Bash::new(stage.options.clone());
        let (output, _pieces) = mpsc::channel(64);
        let arguments = json!({ "command": serving(address, family), "timeout_s": 600 });
        let running = tokio::spawn(async move { bash.call(&place, arguments, output).await });

        let arrive = async || connect(&way_in.socket(), 5173).await.ok();
        let mut stream = until("the command serves", arrive).await;
        stream.write_all(b"hello").await.unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).await.unwrap();
        assert_eq!(said, "inside hello", "{address}");

        assert_eq!(listening(&way_in.socket()).await.unwrap(), [5173]);
        assert_eq!(connect(&way_in.socket(), 0).await.unwrap_err().kind(), ErrorKind::ConnectionRefused);

        // Ports of this machine are not ports of the sandbox.
        assert_eq!(connect(&way_in.socket(), outside).await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
        let mut many = Vec::new();
        for _ in 0..20 {
            many.push(connect(&way_in.socket(), 5173).await.unwrap());
        }
        running.abort();
        let _ = running.await;
        until_so("the way in ends with the command", async || connect(&way_in.socket(), 5173).await.is_err()).await;
    }
}
