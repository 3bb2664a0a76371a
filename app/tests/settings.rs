//! The settings and the audit as the server draws them, for a reader without scripts, and what their buttons do.

#![allow(clippy::unwrap_used)]

mod stage;

use app::server_fns::{AuditAsked, list_audit, read_settings, remove_rule, sign_out, test_provider};
use axum::http::{Request, request::Parts};
use leptos::prelude::{Owner, provide_context};
use protocol::{CommandId, ControlVerb, ErrorCode, PatchPod, PermissionDecision, PermissionRule, PodRef, RuleItem};
use runtime::Profile;

use crate::stage::{Stage, words};

/// With an unreachable provider, a profile, and a logged-in browser.
async fn set_up() -> Stage {
    let away = provider::ProviderConfig {
        name: "lab".to_owned(),
        kind: provider::ProviderKind::OpenAi,
        // Nothing listens on port 1.
        base_url: Some("http://127.0.0.1:1/v1".to_owned()),
        api_key: Some("sk-never-shown-4f9aQ7xT".into()),
        models: vec!["m".to_owned()],
        source: provider::ProviderSource::Configuration,
    };
    let profile =
        Profile { model: Some("m-large".to_owned()), tools: Some(vec!["Read".to_owned()]), ..Profile::default() };
    let stage = Stage::start_with(vec![away], [("reviewer".to_owned(), profile)].into()).await;
    let secret = stage.backend.sessions().open("Desk <b>browser</b>").await.unwrap();
    let session = stage.backend.sessions().of(secret.as_str()).await.unwrap();
    Stage { session, ..stage }
}

async fn stop(stage: &Stage, pod: &PodRef) {
    stage.backend.command(&stage.origin, CommandId::random(), ControlVerb::Stop.of(pod.clone())).await.unwrap();
}

async fn give_rules(stage: &Stage, pod: &PodRef, rules: Vec<PermissionRule>) {
    let patch = PatchPod { permissions: Some(rules), ..PatchPod::default() };
    stage
        .backend
        .carry_out(&stage.origin, CommandId::random(), protocol::operations::Patch { pod: pod.clone(), body: patch })
        .await
        .unwrap();
}

/// Calls server functions as the login's browser does.
fn asks(stage: &Stage) -> Owner {
    let owner = Owner::new();
    let (mut parts, ()): (Parts, ()) = Request::builder().uri("/").body(()).unwrap().into_parts();
    parts.extensions.insert(stage.session.clone().unwrap());
    let (backend, origin) = (stage.backend.clone(), stage.origin.clone());
    owner.with(|| {
        provide_context(backend);
        provide_context(origin);
        provide_context(parts);
    });
    owner.set();
    owner
}

fn rule(pattern: &str) -> PermissionRule {
    let decision = PermissionDecision::Allow;
    PermissionRule { tool: "Bash".to_owned(), pattern: Some(pattern.to_owned()), folder: None, pod: None, decision }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_settings_say_what_the_server_is_set_up_with_and_never_a_key() {
    let stage = set_up().await;
    let page = stage.page("/settings").await;
    assert!(page.contains("<title>Settings · yoi</title>"), "{page}");
    let said = words(&page);
    for expected in [
        "lab",
        "rehearsal",
        "not configured: add a key, or set ANTHROPIC_API_KEY",
        "reviewer",
        "m-large of the default provider",
        "[profiles.reviewer]",
        "local",
        "in this server",
        "live, since",
        "ListPods",
        "There are no rules yet.",
        "Desk &lt;b&gt;browser",
        "this one",
        "No other browser is logged in.",
        "of this server",
        "at most 10000 (max)",
        "of all descendants of one Pod",
        "at most 128 (family_max)",
        "yoi token",
        "yoi open",
        "Match the system",
        "Ctrl Enter sends",
        "Desktop notifications",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    for anchor in ["models", "profiles", "runtimes", "permissions", "walls", "limits", "sessions", "browser"] {
        assert!(
            page.contains(&format!("id=\"{anchor}\"")) && page.contains(&format!("href=\"#{anchor}\"")),
            "{anchor}"
        );
    }
    assert!(!page.contains("sk-never") && !page.contains("127.0.0.1:1"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_from_the_page_asks_the_provider_and_tells_away_from_missing() {
    let stage = set_up().await;
    let _owner = asks(&stage);
    assert!(test_provider("rehearsal".to_owned()).await.unwrap().is_ok);
    let away = test_provider("lab".to_owned()).await.unwrap();
    assert_eq!((away.is_ok, away.code.as_deref()), (false, Some("unreachable")));
    assert_eq!(test_provider("nobody".to_owned()).await.unwrap_err().code(), ErrorCode::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_is_shown_with_its_pod_until_it_is_forgotten() {
    let stage = set_up().await;
    let ada = stage.pod("ada").await;
    give_rules(&stage, &ada, vec![rule("cargo test"), rule("git *")]).await;
    let said = words(&stage.page("/settings").await);
    assert!(said.contains("allow Bash: cargo test") && said.contains("allow Bash: git *"), "{said}");
    let _owner = asks(&stage);
    let id = |pattern: &str, items: &[RuleItem]| items.iter().find(|rule| rule.pattern == pattern).unwrap().id.clone();
    let id = id("cargo test", &read_settings().await.unwrap().rules.items);
    remove_rule(CommandId::random(), id.clone()).await.unwrap();
    // It is not there a second time.
    assert_eq!(remove_rule(CommandId::random(), id).await.unwrap_err().code(), ErrorCode::NotFound);
    let left = [rule("git *")];
    assert_eq!(stage.backend.pod(&ada).await.unwrap().permissions, left);
    let said = words(&stage.page("/settings").await);
    assert!(!said.contains("cargo test"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn logins_are_ended_one_by_one_or_all_but_this_one() {
    let stage = set_up().await;
    let mut secrets = Vec::new();
    for name in ["Phone", "Pad", "Old"] {
        secrets.push(stage.backend.sessions().open(name).await.unwrap());
    }
    let said = words(&stage.page("/settings").await);
    assert!(said.contains("Phone") && said.contains("Sign out all others"), "{said}");
    for secret in &secrets {
        assert!(!said.contains(secret.as_str()));
    }
    let _owner = asks(&stage);
    let listed = read_settings().await.unwrap().sessions;
    assert_eq!(listed.iter().filter(|session| session.is_this).count(), 1);
    let phone = listed.iter().find(|session| session.client == "Phone").unwrap();
    let left = sign_out(Some(phone.id.clone())).await.unwrap();
    assert_eq!(left.len(), 3);
    assert_eq!(sign_out(Some(phone.id.clone())).await.unwrap_err().code(), ErrorCode::NotFound);
    let left = sign_out(None).await.unwrap();
    assert_eq!(left.iter().map(|session| session.is_this).collect::<Vec<_>>(), [true]);
    for secret in &secrets {
        assert_eq!(stage.backend.sessions().of(secret.as_str()).await.unwrap(), None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_says_who_did_what_with_what_result_and_leads_to_the_pod() {
    let stage = set_up().await;
    assert!(words(&stage.page("/audit").await).contains("No entries yet."));
    let ada = stage.pod("ada").await;
    stop(&stage, &ada).await;
    let refused = stage.backend.command(&stage.origin, CommandId::random(), ControlVerb::Pause.of(ada.clone())).await;
    assert_eq!(refused.unwrap_err().code, ErrorCode::NotLive);
    let page = stage.page("/audit").await;
    assert!(page.contains("<title>Audit · yoi</title>"), "{page}");
    let said = words(&page);
    for expected in ["pod create", "stop", "pause", "operator", "console", "⊘ refused", "not live", "✓ done"] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let href = format!("href=\"/pods/local/{}\"", ada.worker_id);
    assert!(page.split_once("audit-table").unwrap().1.matches(&href).count() >= 3, "{page}");
    let only = words(&stage.page("/audit?result=refused").await);
    assert!(only.contains("⊘ refused") && !only.contains("✓ done"), "{only}");
    let none = words(&stage.page("/audit?action=compact").await);
    assert!(none.contains("No matching entries."), "{none}");
    let wrong = words(&stage.page("/audit?after=x").await);
    assert!(wrong.contains("The cursor is not one of this list") && wrong.contains("Newest rows"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread")]
async fn earlier_rows_are_a_link_away_and_keep_the_filter() {
    let stage = set_up().await;
    let (ada, bob) = (stage.pod("ada").await, stage.pod("bob").await);
    for _ in 0..101 {
        stop(&stage, &ada).await;
    }
    stop(&stage, &bob).await;
    let page = stage.page("/audit?action=stop").await;
    let link = page.split("href=\"").find(|part| part.contains("after=") && part.starts_with("/audit")).unwrap();
    let href = link.split('"').next().unwrap().replace("&amp;", "&");
    assert!(href.contains("action=stop"), "{href}");
    assert!(page.contains("<option value=\"stop\" selected"), "the form keeps what is chosen");
    let earlier = stage.page(&href).await;
    let rows = earlier.matches("audit-what").count();
    assert_eq!(rows, 2, "{earlier}");
    assert!(words(&earlier).contains("Newest") && !words(&earlier).contains("Earlier"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_of_a_pod_has_what_was_done_to_it_and_nothing_else() {
    let stage = set_up().await;
    let (ada, bob) = (stage.pod("ada").await, stage.pod("bob").await);
    stop(&stage, &ada).await;
    give_rules(&stage, &bob, vec![rule("x")]).await;
    let said = words(&stage.page(&format!("/audit?target=local%2F{}", ada.worker_id)).await);
    assert!(said.contains("about") && said.contains("stop"), "{said}");
    let _owner = asks(&stage);
    let asked = AuditAsked { target: Some(bob.to_string()), ..AuditAsked::default() };
    let listed = list_audit(asked, 10).await.unwrap();
    assert_eq!(listed.items.iter().map(|row| row.entry.action.as_str()).collect::<Vec<_>>(), ["rename"]);
}
