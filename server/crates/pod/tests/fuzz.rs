//! Fuzz target (docs/testing.md): no path outside of a Pod's scope is ever allowed, compared with a naive reading of the
//! rules.

#![allow(clippy::unwrap_used)]

use pod::{Scope, is_plain};
use protocol::{Access, ScopeRule};
use testkit::fuzz::{Choices, corpus};

/// Each begins like another one, or is special to a file system.
const NAMES: &[&str] = &["a", "ab", "a.b", ".", "..", "", "A", "é", "a b", "\u{301}", "*", "a\n"];

fn some_path(choices: &mut Choices<'_>) -> String {
    let mut path = String::new();
    for _ in 0..choices.below(5) {
        path.push('/');
        path.push_str(choices.pick(NAMES));
    }
    if path.is_empty() { "/".to_owned() } else { path }
}

fn some_rules(choices: &mut Choices<'_>) -> Vec<ScopeRule> {
    (0..choices.below(5))
        .map(|_| {
            let access = *choices.pick(&[&Access::Write, &Access::Read, &Access::Write, &Access::Deny]);
            ScopeRule { path: some_path(choices), access, recursive: !choices.flag() }
        })
        .filter(|rule| is_plain(&rule.path))
        .collect()
}

fn names(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !name.is_empty()).collect()
}

/// Whether a rule is about a path, name by name.
fn is_about(rule: &ScopeRule, path: &str) -> bool {
    let (rule_names, path_names) = (names(&rule.path), names(path));
    let depth = path_names.len().checked_sub(rule_names.len());
    path_names.starts_with(&rule_names) && depth.is_some_and(|depth| rule.recursive || depth <= 1)
}

fn any_scope(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let (rules, lent) = (some_rules(&mut choices), some_rules(&mut choices));
    let scope = Scope::new(rules.clone(), lent.clone());
    let made = some_path(&mut choices);
    for path in [made.as_str(), &*String::from_utf8_lossy(bytes)] {
        if !is_plain(path) {
            continue;
        }
        let any = |rules: &[ScopeRule], access: Access| {
            rules.iter().any(|rule| rule.access == access && is_about(rule, path))
        };
        let is_granted = (any(&rules, Access::Read) || any(&rules, Access::Write)) && !any(&rules, Access::Deny);
        let is_writable = is_granted && any(&rules, Access::Write) && !any(&lent, Access::Write);
        assert_eq!(scope.may_read(path).is_ok(), is_granted, "{path:?} by {rules:?}");
        assert_eq!(scope.may_write(path).is_ok(), is_writable, "{path:?} by {rules:?}, lent {lent:?}");
    }
    // What is lent never reaches beyond what is held.
    let wanted = some_rules(&mut choices);
    if let Ok(child) = scope.lend(&wanted, &lent) {
        let child = Scope::new(child, []);
        let path = some_path(&mut choices);
        if is_plain(&path) && child.may_read(&path).is_ok() {
            assert!(scope.may_read(&path).is_ok(), "{path:?} of {child:?} lent by {scope:?}");
        }
        if is_plain(&path) && child.may_write(&path).is_ok() {
            assert!(Scope::new(rules, []).may_write(&path).is_ok(), "{path:?} of {child:?} lent by {scope:?}");
        }
    }
}

#[test]
fn no_path_outside_of_the_scope_is_allowed() {
    corpus(env!("CARGO_MANIFEST_DIR"), "scope", any_scope);
    bolero::check!().with_iterations(50_000).with_max_len(64).for_each(any_scope);
}
