//! The rules for calls: each attack is a call that a rule was not made for, made by a model through the real API. It
//! gets through if it is carried out without an approval, or, where a rule denies it, if it is asked for or carried
//! out.

use std::{fs, os::unix::fs::symlink, path::Path};

use serde_json::{Value, json};
use testkit::yoi::{YoiProcess, pod_path, until};

use crate::{Tally, YOI};

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Asked,
    Denied,
    CarriedOut,
}

/// Has the model of a new Pod make one call, and returns what became of it. An approval is answered by denying it.
pub(crate) async fn fate(yoi: &YoiProcess, pod: &Value, tool: &str, arguments: &Value) -> Fate {
    let before = yoi.journal(pod).await.len();
    yoi.say(pod, &format!("call {tool} {arguments}")).await;
    let fate = until("the call is decided on", async || {
        let records = yoi.journal(pod).await;
        records[before..].iter().find_map(|record| match record["event"]["kind"].as_str() {
            Some("approval_asked") => Some(Fate::Asked),
            Some("tool_finished") if record["event"]["code"] == "permission_denied" => Some(Fate::Denied),
            Some("tool_finished") => Some(Fate::CarriedOut),
            _ => None,
        })
    })
    .await;
    if fate == Fate::Asked {
        yoi.post(&format!("{}/cancel", pod_path(pod)), &json!({})).await.expect(202);
    }
    until("the Pod is idle", async || {
        let state = yoi.get(&pod_path(pod)).await.expect(200)["state"].clone();
        (state == "idle").then_some(())
    })
    .await;
    fate
}

pub(crate) async fn give(yoi: &YoiProcess, pod: &Value, rules: &Value) -> Value {
    yoi.patch(&pod_path(pod), &json!({ "permissions": rules })).await.expect(200)
}

async fn pod_in(yoi: &YoiProcess, name: &str, folders: &[&Path]) -> Value {
    let scope: Vec<_> = folders.iter().map(|folder| json!({ "path": folder, "access": "write" })).collect();
    let body = json!({ "name": name, "provider": "rehearsal", "cwd": folders[0], "scope": scope });
    yoi.post("/api/v1/pods", &body).await.expect(201)
}

fn rule(tool: &str, pattern: &str, decision: &str) -> Value {
    json!({ "tool": tool, "match": pattern, "decision": decision })
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one list of attacks")]
async fn a_rule_that_allows_a_command_allows_its_words_and_nothing_besides() {
    let yoi = YoiProcess::start(YOI).await;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("sub")).unwrap();
    let pod = pod_in(&yoi, "commands", &[&root]).await;
    let bash = |command: &str| json!({ "command": command });
    let mut tally = Tally::of("rules that allow commands");

    give(&yoi, &pod, &json!([rule("Bash", "echo *", "allow"), rule("Bash", "printf *", "allow")])).await;
    for plain in
        ["echo a", "echo 'a b' \"c\" d\\ e", "echo a; printf b | printf c", "echo a 2>&1 >/dev/null", "echo a # b"]
    {
        assert_eq!(fate(&yoi, &pod, "Bash", &bash(plain)).await, Fate::CarriedOut, "{plain}");
    }
    for (attack, command) in [
        ("a second command behind ;", "echo a; touch got"),
        ("a second command behind &&", "echo a && touch got"),
        ("a second command behind ||", "echo a || touch got"),
        ("a second command behind a pipe", "echo touch got | sh"),
        ("a second command behind |&", "echo touch got |& sh"),
        ("a second command in the background", "echo a & touch got"),
        ("a second command on its own line", "echo a\ntouch got"),
        ("a second command before it", "touch got; echo a"),
        ("a substitution", "echo $(touch got)"),
        ("a substitution with backticks", "echo `touch got`"),
        ("a substitution in double quotes", "echo \"$(touch got)\""),
        ("a process that writes", "echo a > >(touch got)"),
        ("a process that is read", "echo <(touch got)"),
        ("a substitution in arithmetic", "echo $((a[$(touch got)0]))"),
        ("a substitution in an expansion", "echo ${a:-$(touch got)}"),
        ("an expansion that runs a prompt's command", "X='$(touch got)'; echo ${X@P}"),
        ("a variable set before it", "PATH=.:$PATH echo a"),
        ("a library loaded before it", "LD_PRELOAD=./evil.so echo a"),
        ("a variable set by quotes in its value", "A='b c' echo a"),
        ("output to a file", "echo a > got"),
        ("output behind a file", "echo a >> got"),
        ("output to a file past noclobber", "echo a >| got"),
        ("both outputs to a file", "echo a &> got"),
        ("both outputs to a file by a copy", "echo a >& got"),
        ("output of another stream to a file", "echo a 5> got"),
        ("a file opened for both", "echo a <> got"),
        ("a here-document", "echo a <<x\n$(touch got)\nx"),
        ("a here-string", "echo a <<< $(touch got)"),
        ("a group", "{ echo a; touch got; }"),
        ("a subshell", "(echo a; touch got)"),
        ("a function of its name", "echo() { touch got; }; echo a"),
        ("a function of another shape", "function echo { touch got; }; echo a"),
        ("an alias of its name", "alias echo=touch; echo got"),
        ("a condition", "if touch got; then echo a; fi"),
        ("a loop", "while touch got; do echo a; break; done"),
        ("a loop over a list", "for x in got; do touch $x; done"),
        ("a case", "case a in a) touch got;; esac"),
        ("a test", "[[ -n $(touch got) ]]"),
        ("a denial of it", "! touch got"),
        ("a co-process", "coproc touch got"),
        ("time before another", "time touch got"),
        ("names that a glob makes", "echo *"),
        ("names that braces make", "echo {a,b}"),
        ("the home that a tilde makes", "echo ~root"),
        ("quotes of C", "echo $'a\\n'"),
        ("a command in the index of a variable that printf sets", "printf -v 'a[$(touch got)]' x"),
        ("the same in one word", "printf -v'a[$(touch got)]' x"),
        ("a variable that printf sets for the next command", "printf -v PATH ./evil; echo a"),
        ("a variable that printf sets to a count", "printf 'a%n' PATH"),
        ("what only bash takes for a redirection", "echo a &>/dev/null touch got"),
        ("the same behind a file", "echo a &>>/dev/null touch got"),
        ("a stream that only bash has", "echo a 10>/dev/null"),
        ("a sign of the rules' own", "echo \"\\\u{1}\""),
        ("quotes of a language", "echo $\"a\""),
        ("a line that goes on in the midst of its joint", "echo a \\\n; touch got"),
        ("a joint behind a comment", "echo a # b\ntouch got"),
        ("a program whose name begins like it", "echoes a"),
        ("a program of its name elsewhere", "./echo a"),
        ("its name and a word in one word", "'echo a' b"),
        ("another space than the shell's", "echo\u{a0}a"),
        ("a carriage return", "echo a\rtouch got"),
        ("a text too long to be read", &format!("echo {}", "a".repeat(17_000))),
        ("a text that is no command line", "echo 'a"),
    ] {
        let fate = fate(&yoi, &pod, "Bash", &bash(command)).await;
        let done = (fate != Fate::Asked || root.join("got").exists()).then(|| format!("{fate:?}"));
        tally.note(attack, done);
    }

    let setters =
        ["test", "wait", "set", "read", "declare", "export", "unset", "let", "mapfile", "getopts", "alias", "hash"];
    let all = setters.iter().chain(&["echo"]).map(|name| rule("Bash", &format!("{name} *"), "allow"));
    give(&yoi, &pod, &json!(all.collect::<Vec<_>>())).await;
    for plain in ["test -d sub", "set -eu; echo a", "echo a; wait"] {
        assert_eq!(fate(&yoi, &pod, "Bash", &bash(plain)).await, Fate::CarriedOut, "{plain}");
    }
    for (attack, command) in [
        ("a command in the index of a variable that is tested", "test -v 'a[$(touch got)]'"),
        ("the same behind another test", "test a -a -v 'a[$(touch got)]'"),
        ("the same by the last word before it", "echo 'a[$(touch got)]'; test -v 'b[_]'"),
        ("a command in the index of a variable that is waited for", "echo a & wait -n -p 'a[$(touch got)]'"),
        ("a command in the index of a variable that is read", "read 'a[$(touch got)]'"),
        ("a command in the index of a variable that is declared", "declare 'a[$(touch got)]=1'"),
        ("a command in the value of a declared number", "declare -i 'b=a[$(touch got)]'"),
        ("a command in the index of a variable that is removed", "unset 'a[$(touch got)]'"),
        ("a command in arithmetic", "let 'a[$(touch got)]'"),
        ("a command for each line that is read", "mapfile -C 'touch got;:' -c 1 a </etc/passwd"),
        ("a variable that is exported", "export LD_PRELOAD=./evil.so; echo a"),
        ("a variable that options are put into", "getopts a: b '-aa[$(touch got)]'"),
        ("assignments behind a command", "set -k\necho PATH=./evil"),
        ("another language of the shell", "set -o posix\nalias echo='touch got'\necho a"),
        ("a program in the place of another", "hash -p ./evil echo; echo a"),
    ] {
        let fate = fate(&yoi, &pod, "Bash", &bash(command)).await;
        let done = (fate != Fate::Asked || root.join("got").exists()).then(|| format!("{fate:?}"));
        tally.note(attack, done);
    }

    give(&yoi, &pod, &json!([rule("Bash", "cd * && echo *", "allow")])).await;
    assert_eq!(fate(&yoi, &pod, "Bash", &bash("cd sub && echo a")).await, Fate::CarriedOut);
    for (attack, command) in [
        ("another command in the place of a star", "cd sub; touch got && echo a"),
        ("another joint than the rule's", "cd sub || echo a"),
        ("one command more than the rule's", "cd sub && echo a && echo b"),
        ("the rule's commands in another order", "echo a && cd sub"),
    ] {
        let fate = fate(&yoi, &pod, "Bash", &bash(command)).await;
        tally.note(attack, (fate != Fate::Asked).then(|| format!("{fate:?}")));
    }

    let here = json!([{ "tool": "Bash", "match": "echo *", "folder": root, "decision": "allow" }, rule("Bash", "cd *", "allow")]);
    give(&yoi, &pod, &here).await;
    assert_eq!(fate(&yoi, &pod, "Bash", &bash("echo a")).await, Fate::CarriedOut);
    symlink("sub", root.join("link")).unwrap();
    for (attack, arguments) in [
        ("the same command in another folder", json!({ "command": "echo a", "cwd": "sub" })),
        ("the same command in a folder by a link", json!({ "command": "echo a", "cwd": "link" })),
        ("the same command after a change of folder", bash("cd sub; echo a")),
        ("the same command after a change of folder on another line", bash("cd sub\necho a")),
    ] {
        let fate = fate(&yoi, &pod, "Bash", &arguments).await;
        tally.note(attack, (fate != Fate::Asked).then(|| format!("{fate:?}")));
    }
    tally.finish(83);
}

#[tokio::test]
async fn a_rule_that_denies_a_command_denies_it_in_every_place() {
    let yoi = YoiProcess::start(YOI).await;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let pod = pod_in(&yoi, "denied", &[&root]).await;
    give(&yoi, &pod, &json!([rule("Bash", "touch *", "deny"), { "tool": "Bash", "decision": "allow" }])).await;
    assert_eq!(fate(&yoi, &pod, "Bash", &json!({ "command": "echo touch" })).await, Fate::CarriedOut);
    let mut tally = Tally::of("rules that deny commands");
    for (attack, command) in [
        ("behind another", "echo a; touch got"),
        ("in a substitution", "echo $(touch got)"),
        ("in a substitution in quotes", "echo \"a $(touch got)\""),
        ("in a substitution in a substitution", "echo $(echo `touch got`)"),
        ("in a subshell", "(touch got)"),
        ("in a loop", "for x in 1; do touch got; done"),
        ("in a function", "f() { touch got; }; f"),
        ("in a condition", "if true; then touch got; fi"),
        ("in a process", "cat <(touch got)"),
        ("behind a variable", "A=b touch got"),
        ("by its path", "/usr/bin/touch got"),
        ("by a path that goes round", "/usr/bin/../bin/touch got"),
        ("with its name in quotes", "'touch' got"),
        ("with its name in pieces", "to\"u\"c\\h got"),
        ("with its name over two lines", "to\\\nuch got"),
        ("behind env", "env A=b touch got"),
        ("behind command", "command touch got"),
        ("behind exec", "exec touch got"),
        ("behind nohup and nice", "nohup nice -n 3 touch got"),
        ("behind timeout", "timeout 5 touch got"),
        ("behind xargs", "echo got | xargs touch -a"),
        ("behind find", "find . -maxdepth 0 -exec touch got ';'"),
        ("behind a shell", "bash -c 'touch got'"),
        ("behind a shell in a shell", "sh -c \"sh -c 'touch got'\""),
        ("behind eval", "eval 'touch got'"),
        ("behind eval, word by word", "eval touch got"),
        ("before a redirection", "> log touch got"),
        ("as a co-process", "coproc touch got; wait"),
        ("behind trap", "trap 'touch got' EXIT"),
        ("with its name in quotes of C", "$'touch' got"),
        ("in what a shell reads", "bash <<< 'touch got'"),
        ("in a text that a shell reads", "sh -s <<E\ntouch got\nE"),
        ("in what is sourced", ". /dev/stdin <<< 'touch got'"),
        ("behind a text too long to be read", &format!("true {}; touch got", "a".repeat(17_000))),
    ] {
        let fate = fate(&yoi, &pod, "Bash", &json!({ "command": command })).await;
        let done = (fate != Fate::Denied || root.join("got").exists()).then(|| format!("{fate:?}"));
        tally.note(attack, done);
    }
    tally.finish(34);
}

#[tokio::test]
async fn a_rule_over_paths_means_where_they_lead() {
    let yoi = YoiProcess::start(YOI).await;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for name in ["docs", "other"] {
        fs::create_dir(root.join(name)).unwrap();
    }
    fs::write(root.join("other/secret"), "x").unwrap();
    symlink("../other", root.join("docs/link")).unwrap();
    symlink("../other/secret", root.join("docs/file")).unwrap();
    symlink("../other/new", root.join("docs/dangling")).unwrap();
    symlink("docs", root.join("alias")).unwrap();
    symlink("other", root.join("byway")).unwrap();
    let pod = pod_in(&yoi, "paths", &[&root]).await;
    let at = |path: &str| json!({ "path": path, "content": "y" });
    let mut tally = Tally::of("rules over paths");
    let absolute = format!("{}/docs/link/new", root.display());

    give(&yoi, &pod, &json!([rule("Write", "docs/*", "allow")])).await;
    assert_eq!(fate(&yoi, &pod, "Write", &at("docs/new")).await, Fate::CarriedOut);
    assert_eq!(fate(&yoi, &pod, "Write", &at("alias/new2")).await, Fate::CarriedOut);
    for (attack, path) in [
        ("a folder that is a link", "docs/link/new"),
        ("a file that is a link", "docs/file"),
        ("a link to what is not there", "docs/dangling"),
        ("a link by its absolute path", absolute.as_str()),
        ("a way up", "docs/../other/new"),
        ("a way up behind a link", "docs/link/../../other/new"),
        ("a name that begins alike", "docsx/new"),
        ("a new folder behind a link", "docs/link/a/b/new"),
    ] {
        let fate = fate(&yoi, &pod, "Write", &at(path)).await;
        tally.note(attack, (fate != Fate::Asked).then(|| format!("{fate:?}")));
    }
    give(&yoi, &pod, &json!([rule("Read", "other/*", "deny")])).await;
    for (attack, path) in [
        ("what is denied, by a link to its folder", "byway/secret"),
        ("what is denied, by a link to it", "docs/file"),
        ("what is denied, by a link in a folder", "docs/link/secret"),
        ("what is denied, by a way up", "docs/../other/secret"),
        ("what is denied, by a dot", "./other//secret"),
    ] {
        let fate = fate(&yoi, &pod, "Read", &json!({ "path": path })).await;
        tally.note(attack, (fate != Fate::Denied).then(|| format!("{fate:?}")));
    }
    // "Always" applies to the resolved path, and not to its name.
    let path = "docs/later";
    symlink("new", root.join(path)).unwrap();
    give(&yoi, &pod, &json!([])).await;
    always(&yoi, &pod, "Write", &at(path)).await;
    fs::remove_file(root.join(path)).unwrap();
    symlink("../other/secret", root.join(path)).unwrap();
    let fate = fate(&yoi, &pod, "Write", &at(path)).await;
    tally.note("a link that leads elsewhere after an always", (fate != Fate::Asked).then(|| format!("{fate:?}")));
    tally.finish(14);
}

/// Has a call asked for, and answers it with "always".
async fn always(yoi: &YoiProcess, pod: &Value, tool: &str, arguments: &Value) -> Value {
    yoi.say(pod, &format!("call {tool} {arguments}")).await;
    let id = until("a question", async || {
        let open = yoi.get(&format!("{}/approvals", pod_path(pod))).await.expect(200);
        open["items"][0]["id"].as_str().map(str::to_owned)
    })
    .await;
    let answer = json!({ "decision": "allow", "remember": true });
    yoi.post(&format!("{}/approvals/{id}", pod_path(pod)), &answer).await.expect(200);
    until("the Pod is idle", async || {
        let pod = yoi.get(&pod_path(pod)).await.expect(200);
        (pod["state"] == "idle").then_some(pod)
    })
    .await
}

#[tokio::test]
async fn a_rule_over_addresses_means_their_parts() {
    let yoi = YoiProcess::start(YOI).await;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let pod = pod_in(&yoi, "addresses", &[&root]).await;
    let mut tally = Tally::of("rules over addresses");
    // Nothing listens there: a call that is carried out fails at once, but it was carried out.
    let allowed =
        json!([rule("WebFetch", "http://127.0.0.1/docs/*", "allow"), rule("WebFetch", "https://*.invalid/*", "allow")]);
    give(&yoi, &pod, &allowed).await;
    let url = |url: &str| json!({ "url": url });
    let plain = fate_of(&yoi, &pod, "http://127.0.0.1/docs/a").await;
    assert_ne!(plain, Fate::Asked);
    for (attack, given) in [
        ("a name that goes on", "http://127.0.0.1.evil.invalid/docs/a"),
        ("a login that looks like it", "http://127.0.0.1@evil.invalid/docs/a"),
        ("a login with a password that looks like it", "http://127.0.0.1:80@evil.invalid/docs/a"),
        ("a backslash before the real host", "http://evil.invalid\\@127.0.0.1/docs/a"),
        ("another port", "http://127.0.0.1:8080/docs/a"),
        ("another scheme", "https://127.0.0.1/docs/a"),
        ("a way up", "http://127.0.0.1/docs/../a"),
        ("a way up in code", "http://127.0.0.1/docs/%2e%2e/a"),
        ("a slash in code", "http://127.0.0.1/docs/..%2fa"),
        ("a backslash in code", "http://127.0.0.1/docs/..%5ca"),
        ("another address", "http://127.0.0.2/docs/a"),
        ("the domain behind the star itself", "https://invalid/"),
        ("a name that ends alike", "https://evilinvalid/"),
        ("a label that a query brings", "https://evil.test/?.invalid/"),
        ("a label that a fragment brings", "https://evil.test/#.invalid/"),
        ("the address as a path", "https://evil.test/http://127.0.0.1/docs/a"),
        ("a login in an allowed host", "https://me:secret@a.invalid/"),
        ("another port of an allowed domain", "https://a.invalid:8443/"),
        ("what is no address", "docs/a"),
    ] {
        let fate = fate(&yoi, &pod, "WebFetch", &url(given)).await;
        // What WebFetch never fetches is refused and not asked for.
        tally.note(attack, (fate == Fate::CarriedOut).then(|| format!("{fate:?}")));
    }
    give(&yoi, &pod, &json!([rule("WebFetch", "https://evil.invalid/*", "deny")])).await;
    for (attack, given) in [
        ("what is denied, in capitals", "HTTPS://EVIL.Invalid/a"),
        ("what is denied, with its port", "https://evil.invalid:443/a"),
        ("what is denied, with a dot", "https://evil.invalid./a"),
        ("what is denied, with a login", "https://me@evil.invalid/a"),
    ] {
        let fate = fate(&yoi, &pod, "WebFetch", &url(given)).await;
        tally.note(attack, (fate != Fate::Denied).then(|| format!("{fate:?}")));
    }
    tally.finish(23);
}

/// WebFetch refuses this machine by itself, with the same code as a rule: so this only says whether the call was asked
/// for.
async fn fate_of(yoi: &YoiProcess, pod: &Value, url: &str) -> Fate {
    fate(yoi, pod, "WebFetch", &json!({ "url": url })).await
}

#[tokio::test]
async fn a_rule_about_a_pod_is_none_for_the_next_one_of_its_name() {
    let yoi = YoiProcess::start(YOI).await;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let mut tally = Tally::of("rules about Pods");
    let (leader, bob, eve) = (
        pod_in(&yoi, "leader", &[&root]).await,
        pod_in(&yoi, "bob", &[&root]).await,
        pod_in(&yoi, "eve", &[&root]).await,
    );
    for peer in ["bob", "eve"] {
        yoi.post(&format!("{}/peers", pod_path(&leader)), &json!({ "target": peer })).await.expect(201);
    }
    let letter = |name: &str| json!({ "name": name, "message": "hello" });
    let asks = json!({ "tool": "SendToPeerPod", "decision": "ask" });
    let detail = give(&yoi, &leader, &json!([rule("SendToPeerPod", "bob", "allow"), asks])).await;
    assert_eq!(detail["permissions"][0]["pod"], bob["pod"]["worker_id"]);
    assert_eq!(fate(&yoi, &leader, "SendToPeerPod", &letter("bob")).await, Fate::CarriedOut);
    let held = async |attack: &str, name: &str, tally: &mut Tally| {
        let fate = fate(&yoi, &leader, "SendToPeerPod", &letter(name)).await;
        tally.note(attack, (fate != Fate::Asked).then(|| format!("{fate:?}")));
    };
    held("another Pod", "eve", &mut tally).await;
    yoi.patch(&pod_path(&bob), &json!({ "name": "robert" })).await.expect(200);
    yoi.patch(&pod_path(&eve), &json!({ "name": "bob" })).await.expect(200);
    held("another Pod that was given the name", "bob", &mut tally).await;
    let address = format!("local/{}", eve["pod"]["worker_id"].as_str().unwrap());
    held("another Pod by its address", &address, &mut tally).await;
    assert_eq!(fate(&yoi, &leader, "SendToPeerPod", &letter("robert")).await, Fate::CarriedOut);

    let refusal = yoi.patch(&pod_path(&leader), &json!({ "permissions": [rule("StopPod", "nobody", "allow")] })).await;
    assert_eq!(refusal.expect_error(400), "invalid_input");
    let detail = give(&yoi, &leader, &json!([rule("SendToPeerPod", "robert", "deny")])).await;
    assert_eq!(detail["permissions"][0]["pod"], bob["pod"]["worker_id"]);
    yoi.patch(&pod_path(&bob), &json!({ "name": "rob" })).await.expect(200);
    for (attack, name) in [
        ("a denied Pod by its next name", "rob".to_owned()),
        ("a denied Pod by its address", { format!("local/{}", bob["pod"]["worker_id"].as_str().unwrap()) }),
    ] {
        let fate = fate(&yoi, &leader, "SendToPeerPod", &letter(&name)).await;
        tally.note(attack, (fate != Fate::Denied).then(|| format!("{fate:?}")));
    }
    tally.finish(5);
}

#[tokio::test]
async fn a_child_may_do_only_what_its_parent_may_do_now() {
    let yoi = YoiProcess::start(YOI).await;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let leader = pod_in(&yoi, "leader", &[&root]).await;
    let mut tally = Tally::of("rules of those who lead");
    give(&yoi, &leader, &json!([rule("Bash", "echo *", "allow")])).await;
    let spawn = json!({ "name": "child", "task": "say ready", "scope": [{ "path": root, "access": "read" }] });
    assert_eq!(fate(&yoi, &leader, "SpawnPod", &spawn).await, Fate::CarriedOut);
    let child = until("the child is idle", async || {
        let found = yoi.get("/api/v1/pods?name=child").await.expect(200)["items"][0].clone();
        (found["state"] == "idle").then_some(found)
    })
    .await;
    let echo = json!({ "command": "echo a" });
    assert_eq!(fate(&yoi, &child, "Bash", &echo).await, Fate::CarriedOut);
    for (attack, rules, expected) in [
        ("what was taken from its leader", json!([]), Fate::Asked),
        ("what its leader is asked for now", json!([rule("Bash", "echo *", "ask")]), Fate::Asked),
        ("what its leader is denied now", json!([rule("Bash", "*", "deny")]), Fate::Denied),
    ] {
        give(&yoi, &leader, &rules).await;
        let fate = fate(&yoi, &child, "Bash", &echo).await;
        tally.note(attack, (fate != expected).then(|| format!("{fate:?}")));
    }
    tally.finish(3);
}

#[tokio::test]
async fn what_a_running_command_may_write_is_not_lent() {
    let yoi = YoiProcess::start(YOI).await;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let leader = pod_in(&yoi, "leader", &[&root]).await;
    let mut tally = Tally::of("loans beside a running command");
    let tools = format!("{}/tools", pod_path(&leader));
    let command = json!({ "arguments": { "command": "touch began; until [ -e end ]; do sleep 0.05; done" } });
    let bash = format!("{tools}/Bash");
    let running = yoi.post(&bash, &command);
    let lending = async {
        until("the command runs", async || root.join("began").exists().then_some(())).await;
        let arguments = json!({ "arguments": { "name": "early", "task": "say a", "scope": [{ "path": root, "access": "write" }] } });
        let answer = yoi.post(&format!("{tools}/SpawnPod"), &arguments).await.expect(200);
        tally.note("a loan to write while a command runs", (answer["code"] != "busy").then(|| answer.to_string()));
        fs::write(root.join("end"), "").unwrap();
    };
    let (answer, ()) = tokio::join!(running, lending);
    assert_eq!(answer.expect(200)["is_error"], false);
    let arguments =
        json!({ "arguments": { "name": "later", "task": "say a", "scope": [{ "path": root, "access": "write" }] } });
    let answer = yoi.post(&format!("{tools}/SpawnPod"), &arguments).await.expect(200);
    assert_eq!(answer["is_error"], false, "{answer}");
    tally.finish(1);
}

#[tokio::test]
async fn a_rule_that_runs_anything_is_warned_of() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    let detail = give(&yoi, &pod, &json!([rule("Bash", "git *", "allow"), rule("Bash", "ls *", "allow")])).await;
    let warnings = detail["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].as_str().unwrap().starts_with("Bash git *: git can run any program"), "{warnings:?}");
    let listed = yoi.get("/api/v1/rules").await.expect(200);
    assert_eq!(listed["items"][0]["warning"], detail["warnings"][0]);
}
