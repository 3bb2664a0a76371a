//! The network of commands: what neither a rule nor a person allows is not reached. Servers of this test on the
//! loopback stand in for the hosts; each reports whether anybody connected.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use testkit::yoi::{YoiProcess, pod_path, until};

use crate::{Tally, YOI};

/// A server that answers each request with `reached`, and counts them.
struct Host {
    address: SocketAddr,
    visits: Arc<AtomicUsize>,
}

impl Host {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, visits) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
        let count = visits.clone();
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                count.fetch_add(1, Ordering::SeqCst);
                thread::spawn(move || {
                    let _ = stream.read(&mut [0; 4096]);
                    let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nreached");
                });
            }
        });
        Self { address, visits }
    }

    fn port(&self) -> u16 {
        self.address.port()
    }

    fn visits(&self) -> usize {
        self.visits.load(Ordering::SeqCst)
    }
}

struct Stage {
    yoi: YoiProcess,
    pod: Value,
    folder: tempfile::TempDir,
}

impl Stage {
    async fn new(network: &str) -> Self {
        let yoi = YoiProcess::start(YOI).await;
        let folder = tempfile::tempdir().unwrap();
        let body = json!({ "name": "ada", "provider": "rehearsal", "cwd": folder.path(), "network": network });
        let pod = yoi.post("/api/v1/pods", &body).await.expect(201);
        Self { yoi, pod, folder }
    }

    fn path(&self, rest: &str) -> String {
        format!("{}{rest}", pod_path(&self.pod))
    }

    async fn give(&self, rules: &[(&str, &str, &str)]) {
        let rule = |(tool, pattern, decision): &(&str, &str, &str)| json!({ "tool": tool, "match": pattern, "decision": decision });
        let rules: Vec<_> = rules.iter().map(rule).collect();
        self.yoi.patch(&self.path(""), &json!({ "permissions": rules })).await.expect(200);
    }

    /// A command run by a person; a rule covers the rest, so no approval is needed.
    async fn run(&self, command: &str) -> Value {
        let body = json!({ "arguments": { "command": command, "timeout_s": 60 } });
        self.yoi.post(&self.path("/tools/Bash"), &body).await.expect(200)
    }

    async fn question(&self) -> Value {
        until("a question", async || {
            let open = self.yoi.get(&self.path("/approvals")).await.expect(200);
            open["items"][0].is_object().then(|| open["items"][0].clone())
        })
        .await
    }

    async fn answer(&self, question: &Value, body: &Value) {
        let id = question["id"].as_str().unwrap();
        self.yoi.post(&self.path(&format!("/approvals/{id}")), body).await.expect(200);
    }
}

/// A client that speaks to the proxy by hand, as a malicious program would: it sends a text and prints the reply.
fn by_hand(text: &str) -> String {
    format!("exec 3<>/dev/tcp/127.0.0.1/3128; printf '{text}' >&3; timeout 5 cat <&3")
}

fn get(url: &str) -> String {
    let rest = url.trim_start_matches("http://");
    let host = rest.split('/').next().unwrap();
    by_hand(&format!("GET {url} HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n"))
}

fn connect(to: &str) -> String {
    by_hand(&format!("CONNECT {to} HTTP/1.1\\r\\n\\r\\nGET / HTTP/1.1\\r\\n\\r\\n"))
}

fn has_rooms(answer: &Value) -> bool {
    !answer["summary"].as_str().unwrap_or_default().starts_with("not confined")
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one list of attacks")]
async fn what_no_rule_allows_is_not_reached() {
    let stage = Stage::new("ask").await;
    if !has_rooms(&stage.run("true").await) {
        return println!(
            "this kernel allows no rooms: commands have the network of the machine, and each is asked for"
        );
    }
    let (open, closed) = (Host::start(), Host::start());
    let (port, other) = (open.port(), closed.port());
    let allowed = format!("127.0.0.1:{port}");
    // The rest is denied rather than asked for, so that each attack comes to an end.
    stage.give(&[("Network", &allowed, "allow"), ("Network", "*", "deny")]).await;
    for plain in [get(&format!("http://{allowed}/")), connect(&allowed)] {
        let answer = stage.run(&plain).await;
        assert!(answer["content"].as_str().unwrap().contains("reached"), "{answer}");
    }
    let own = stage.yoi.base_url().rsplit(':').next().unwrap().to_owned();
    let hostname = fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned();
    let mut tally = Tally::of("the network of commands");
    for (attack, command) in [
        ("a connection past the proxy", format!("exec 3<>/dev/tcp/127.0.0.1/{other}; echo x >&3; cat <&3")),
        (
            "a connection past the proxy to an allowed port",
            format!("exec 3<>/dev/tcp/127.0.0.1/{port}; echo x >&3; cat <&3"),
        ),
        ("another port", get(&format!("http://127.0.0.1:{other}/"))),
        ("another port by a tunnel", connect(&format!("127.0.0.1:{other}"))),
        ("the name of this machine's loopback", get(&format!("http://localhost:{port}/"))),
        ("a name beneath it", get(&format!("http://a.localhost:{port}/"))),
        ("the same port of another loopback address", get(&format!("http://127.0.0.2:{port}/"))),
        ("the loopback of version 6", get(&format!("http://[::1]:{other}/"))),
        ("the loopback in an address of version 6", get(&format!("http://[::ffff:127.0.0.1]:{other}/"))),
        ("the address of no host", get(&format!("http://0.0.0.0:{other}/"))),
        ("the loopback as a number", get(&format!("http://2130706433:{other}/"))),
        ("the loopback in octal", get(&format!("http://0177.0.0.1:{other}/"))),
        ("the loopback in short", get(&format!("http://127.1:{other}/"))),
        ("yoi itself", get(&format!("http://127.0.0.1:{own}/healthz"))),
        ("yoi itself by a tunnel", connect(&format!("localhost:{own}"))),
        ("the machine by its own name", get(&format!("http://{hostname}:{other}/"))),
        ("the metadata of a cloud", get("http://169.254.169.254/latest/")),
        ("a login that looks like an allowed host", get(&format!("http://{allowed}@127.0.0.1:{other}/"))),
        ("an allowed host in the path", get(&format!("http://127.0.0.1:{other}/{allowed}"))),
        (
            "an allowed host in the head",
            by_hand(&format!("GET http://127.0.0.1:{other}/ HTTP/1.1\\r\\nHost: {allowed}\\r\\n\\r\\n")),
        ),
        (
            "a second request on the connection of an allowed one",
            by_hand(&format!(
                "GET http://{allowed}/ HTTP/1.1\\r\\n\\r\\nGET http://127.0.0.1:{other}/ HTTP/1.1\\r\\n\\r\\n"
            )),
        ),
        (
            "a tunnel in an allowed tunnel",
            by_hand(&format!("CONNECT {allowed} HTTP/1.1\\r\\n\\r\\nCONNECT 127.0.0.1:{other} HTTP/1.1\\r\\n\\r\\n")),
        ),
        (
            "a line break in the address",
            by_hand(&format!("CONNECT {allowed}\\r\\nCONNECT 127.0.0.1:{other} HTTP/1.1\\r\\n\\r\\n")),
        ),
        (
            "a head that never ends",
            format!(
                "exec 3<>/dev/tcp/127.0.0.1/3128; (printf 'CONNECT 127.0.0.1:{other} HTTP/1.1\\r\\n'; head -c 200000 /dev/zero | tr '\\0' a) >&3; timeout 5 cat <&3"
            ),
        ),
        (
            "no proxy in the variables",
            format!(
                "no_proxy='*' bash -c '{}'",
                "exec 3<>/dev/tcp/127.0.0.1/PORT; echo x >&3".replace("PORT", &other.to_string())
            ),
        ),
        ("a socket of another's way out", "ls -d /tmp/yoi-*/out && echo reached".to_owned()),
    ] {
        let before = (open.visits(), closed.visits());
        let answer = stage.run(&command).await;
        let content = answer["content"].as_str().unwrap_or_default();
        let is_second = attack.starts_with("a second") || attack.starts_with("a tunnel in");
        let through = match (closed.visits() > before.1, is_second) {
            (true, _) => Some("the closed host was reached".to_owned()),
            (false, false) if open.visits() > before.0 => Some("an open host was reached in another way".to_owned()),
            (false, false) if content.contains("reached") || content.contains("200 ") => Some(content.to_owned()),
            _ => None,
        };
        tally.note(attack, through);
    }
    stage.yoi.patch(&stage.path(""), &json!({ "network": "none" })).await.expect(200);
    for (attack, command) in [
        ("an allowed host without a network", get(&format!("http://{allowed}/"))),
        ("a connection without a network", format!("exec 3<>/dev/tcp/127.0.0.1/{port}; echo x >&3; cat <&3")),
    ] {
        let before = open.visits();
        stage.run(&command).await;
        tally.note(attack, (open.visits() > before).then(|| "it was reached".to_owned()));
    }
    tally.finish(28);
}

#[tokio::test]
async fn a_host_is_asked_for_once_and_always_is_for_that_host() {
    let stage = Stage::new("ask").await;
    if !has_rooms(&stage.run("true").await) {
        return;
    }
    let (host, other) = (Host::start(), Host::start());
    let url = format!("http://{}/", host.address);
    // Two connections wait for one answer.
    let command = format!("({0}) & ({0}) & wait", get(&url));
    let running = stage.run(&command);
    let answering = async {
        let question = stage.question().await;
        assert_eq!(question["tool"], "Network");
        let expected = json!({ "host": "127.0.0.1", "port": host.port(), "command": command });
        assert_eq!(question["arguments"], expected);
        let asking = stage.yoi.get("/api/v1/pods?state=waiting").await.expect(200);
        assert_eq!((&asking["items"][0]["name"], &asking["items"][0]["needs_you"]), (&json!("ada"), &json!(true)));
        assert_eq!(host.visits(), 0);
        stage.answer(&question, &json!({ "decision": "allow" })).await;
    };
    let (answer, ()) = tokio::join!(running, answering);
    assert_eq!(answer["content"].as_str().unwrap().matches("reached").count(), 2, "{answer}");
    let all = stage.yoi.get(&stage.path("/approvals?all=true")).await.expect(200);
    assert_eq!(all["items"].as_array().unwrap().len(), 1, "{all}");

    // It was for that call only. A remembered answer applies to this host and port.
    let command = get(&url);
    let running = stage.run(&command);
    let answering = async {
        let question = stage.question().await;
        stage.answer(&question, &json!({ "decision": "allow", "remember": true })).await;
    };
    let (answer, ()) = tokio::join!(running, answering);
    assert!(answer["content"].as_str().unwrap().contains("reached"), "{answer}");
    let rules = stage.yoi.get(&stage.path("")).await.expect(200)["permissions"].clone();
    let expected = json!([{ "tool": "Network", "match": host.address.to_string(), "decision": "allow" }]);
    assert_eq!(rules, expected);
    assert!(stage.run(&command).await["content"].as_str().unwrap().contains("reached"));
    let audit = stage.yoi.get("/api/v1/audit?action=approve").await.expect(200);
    let about = json!({ "tool": "Network", "subject": host.address.to_string(), "decision": "allow", "remembered": true, "scope": "pod" });
    assert_eq!(audit["items"][0]["about"], about, "the row names the host and the port");

    // A denial is reported, and reported again without a new approval.
    let command = format!("({0}); ({0})", get(&format!("http://{}/", other.address)));
    let running = stage.run(&command);
    let answering = async {
        let question = stage.question().await;
        stage.answer(&question, &json!({ "decision": "deny" })).await;
    };
    let (answer, ()) = tokio::join!(running, answering);
    assert_eq!(answer["content"].as_str().unwrap().matches("403 Forbidden").count(), 2, "{answer}");
    assert_eq!(other.visits(), 0);
}

#[tokio::test]
async fn a_rule_that_names_this_machine_opens_its_ports_and_warns_of_it() {
    let stage = Stage::new("ask").await;
    if !has_rooms(&stage.run("true").await) {
        return;
    }
    let host = Host::start();
    let command = get(&format!("http://{}/", host.address));
    for (pattern, is_reached, said) in [
        ("127.0.0.1", true, "every port there"),
        ("127.0.0.*", false, "it allows nothing"),
        ("*.localhost", false, "it allows nothing"),
    ] {
        stage.give(&[("Network", pattern, "allow"), ("Network", "*", "deny")]).await;
        let detail = stage.yoi.get(&stage.path("")).await.expect(200);
        assert!(detail["warnings"][0].as_str().unwrap().contains(said), "{pattern}: {detail}");
        let answer = stage.run(&command).await;
        assert_eq!(answer["content"].as_str().unwrap().contains("reached"), is_reached, "{pattern}: {answer}");
    }
}

#[tokio::test]
async fn the_time_limit_of_a_command_stands_still_while_its_question_waits() {
    const LIMIT_S: u64 = 15;
    let stage = Stage::new("ask").await;
    if !has_rooms(&stage.run("true").await) {
        return;
    }
    let host = Host::start();
    let request = format!("GET http://{0}/ HTTP/1.1\\r\\nHost: {0}\\r\\n\\r\\n", host.address);
    let command = format!("exec 3<>/dev/tcp/127.0.0.1/3128; printf '{request}' >&3; cat <&3");
    let body = json!({ "arguments": { "command": command, "timeout_s": LIMIT_S } });
    let path = stage.path("/tools/Bash");
    let running = stage.yoi.post(&path, &body);
    let answering = async {
        let question = stage.question().await;
        // Longer than the limit, which would have ended the command and withdrawn the approval.
        tokio::time::sleep(Duration::from_secs(LIMIT_S + 1)).await;
        stage.answer(&question, &json!({ "decision": "allow" })).await;
    };
    let (answer, ()) = tokio::join!(running, answering);
    let answer = answer.expect(200);
    assert_eq!(answer["is_error"], json!(false), "{answer}");
    assert!(answer["content"].as_str().unwrap().contains("reached"), "{answer}");
}

#[tokio::test]
async fn a_run_waits_for_the_way_out_of_its_command_and_goes_on() {
    let mut stage = Stage::new("ask").await;
    if !has_rooms(&stage.run("true").await) {
        return;
    }
    stage.give(&[("Bash", "*", "allow")]).await;
    let host = Host::start();
    let call = |url: &str| format!("call Bash {}\nsay went on", json!({ "command": get(url), "timeout_s": 60 }));
    let url = format!("http://{}/", host.address);
    let state = async |stage: &Stage, wanted: &str| {
        until(wanted, async || {
            let pod = stage.yoi.get(&stage.path("")).await.expect(200);
            (pod["state"] == wanted).then_some(pod)
        })
        .await
    };
    stage.yoi.say(&stage.pod, &call(&url)).await;
    let question = stage.question().await;
    state(&stage, "waiting").await;
    stage.answer(&question, &json!({ "decision": "allow" })).await;
    state(&stage, "idle").await;
    assert_eq!(host.visits(), 1);

    // Pausing ends the command, and withdraws its approval.
    stage.yoi.say(&stage.pod, &call(&url)).await;
    let question = stage.question().await;
    stage.yoi.post(&stage.path("/pause"), &json!({})).await.expect(202);
    state(&stage, "paused").await;
    let id = question["id"].as_str().unwrap();
    let late = stage.yoi.post(&stage.path(&format!("/approvals/{id}")), &json!({ "decision": "allow" })).await;
    assert_eq!(late.expect_error(409), "already_answered");
    stage.yoi.post(&stage.path("/cancel"), &json!({})).await.expect(202);
    state(&stage, "idle").await;

    // So does a kill of yoi: the run is interrupted, and the approval is withdrawn.
    stage.yoi.say(&stage.pod, &call(&url)).await;
    stage.question().await;
    stage.yoi.restart().await;
    state(&stage, "paused").await;
    let open = stage.yoi.get(&stage.path("/approvals")).await.expect(200);
    assert_eq!(open["items"], json!([]));
    assert_eq!(host.visits(), 1);
    let left: Vec<PathBuf> = fs::read_dir(stage.folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_child_reaches_no_more_than_its_parent_may_now() {
    let stage = Stage::new("open").await;
    if !has_rooms(&stage.run("true").await) {
        return;
    }
    let host = Host::start();
    let url = format!("exec 3<>/dev/tcp/127.0.0.1/{}; echo x >&3; cat <&3", host.port());
    let scope = json!([{ "path": stage.folder.path(), "access": "read" }]);
    let spawn = json!({ "arguments": { "name": "child", "task": "say a", "scope": scope } });
    assert_eq!(stage.yoi.post(&stage.path("/tools/SpawnPod"), &spawn).await.expect(200)["is_error"], false);
    let child = until("the child is idle", async || {
        let found = stage.yoi.get("/api/v1/pods?name=child").await.expect(200)["items"][0].clone();
        (found["state"] == "idle").then_some(found)
    })
    .await;
    let run = async || {
        let body = json!({ "arguments": { "command": url } });
        stage.yoi.post(&format!("{}/tools/Bash", pod_path(&child)), &body).await.expect(200)
    };
    assert!(run().await["content"].as_str().unwrap().contains("reached"));
    stage.yoi.patch(&stage.path(""), &json!({ "network": "none" })).await.expect(200);
    let detail = stage.yoi.patch(&pod_path(&child), &json!({ "network": "open" })).await.expect(200);
    assert_eq!(detail["network"], "open");
    run().await;
    assert_eq!(host.visits(), 1, "its leader has no network any more");
}
