//! Scope rules against a model that is obviously right: sets of paths in a small tree, all written out.

#![allow(clippy::unwrap_used)]

use std::{collections::BTreeSet, sync::LazyLock};

use pod::{LendRefusal, Scope, ScopeRefusal, is_plain};
use proptest::prelude::*;
use protocol::{Access, ScopeRule};

/// A path as its components; the root has none.
type Names = Vec<&'static str>;
type Paths = BTreeSet<Names>;

/// One is a prefix of the other, so that comparing text without slashes goes wrong.
const NAMES: [&str; 2] = ["a", "ab"];

/// Rules go this deep, and paths deeper, so that everything a rule can express is covered.
const RULE_DEPTH: usize = 3;
const TREE_DEPTH: usize = 5;

fn text(names: &[&str]) -> String {
    format!("/{}", names.join("/"))
}

fn names(path: &str) -> Names {
    let known = |name: &str| *NAMES.iter().find(|known| **known == name).unwrap();
    path.split('/').filter(|name| !name.is_empty()).map(known).collect()
}

/// Every path of the tree.
fn tree() -> &'static Paths {
    static TREE: LazyLock<Paths> = LazyLock::new(grown_tree);
    &TREE
}

fn grown_tree() -> Paths {
    let mut all = Paths::from([Vec::new()]);
    for _ in 0..TREE_DEPTH {
        let longer = all.iter().flat_map(|path| NAMES.map(|name| [path.as_slice(), &[name]].concat()));
        all = all.iter().cloned().chain(longer).collect();
    }
    all
}

/// The paths that a rule covers.
fn spoken_of(rule: &ScopeRule) -> Paths {
    let top = names(&rule.path);
    let is_meant = |path: &Names| match rule.recursive {
        true => path.starts_with(&top),
        false => *path == top || (path.starts_with(&top) && path.len() == top.len() + 1),
    };
    tree().iter().filter(|path| is_meant(path)).cloned().collect()
}

fn all_of(rules: &[ScopeRule], access: &[Access]) -> Paths {
    rules.iter().filter(|rule| access.contains(&rule.access)).flat_map(spoken_of).collect()
}

fn denied(rules: &[ScopeRule]) -> Paths {
    all_of(rules, &[Access::Deny])
}

fn readable(rules: &[ScopeRule]) -> Paths {
    &all_of(rules, &[Access::Read, Access::Write]) - &denied(rules)
}

fn writable(rules: &[ScopeRule], lent: &[ScopeRule]) -> Paths {
    &(&all_of(rules, &[Access::Write]) - &denied(rules)) - &all_of(lent, &[Access::Write])
}

/// What the engine allows to be read, and to be written.
fn engine_sets(scope: &Scope) -> (Paths, Paths) {
    let may_read = |path: &Names| scope.may_read(&text(path)).is_ok();
    let may_write = |path: &Names| scope.may_write(&text(path)).is_ok();
    let those = |may: &dyn Fn(&Names) -> bool| tree().iter().filter(|path| may(path)).cloned().collect();
    (those(&may_read), those(&may_write))
}

fn any_rule() -> impl Strategy<Value = ScopeRule> {
    let path = prop::collection::vec(prop::sample::select(&NAMES[..]), 0..=RULE_DEPTH);
    let access = prop_oneof![2 => Just(Access::Read), 4 => Just(Access::Write), 1 => Just(Access::Deny)];
    (path, access, prop::bool::weighted(0.7)).prop_map(|(path, access, recursive)| ScopeRule {
        path: text(&path),
        access,
        recursive,
    })
}

fn any_rules(most: usize) -> impl Strategy<Value = Vec<ScopeRule>> {
    prop::collection::vec(any_rule(), 0..=most)
}

/// A Pod of a family: its scope, who lent it that, and what it has lent to its own children.
#[derive(Debug, Clone)]
struct Member {
    rules: Vec<ScopeRule>,
    lender: Option<usize>,
    is_live: bool,
}

#[derive(Debug, Clone)]
struct Family(Vec<Member>);

impl Family {
    fn new(rules: Vec<ScopeRule>) -> Self {
        Self(vec![Member { rules, lender: None, is_live: true }])
    }

    fn live(&self) -> Vec<usize> {
        (0..self.0.len()).filter(|member| self.0[*member].is_live).collect()
    }

    fn children(&self, of: usize) -> impl Iterator<Item = usize> {
        self.live().into_iter().filter(move |member| self.0[*member].lender == Some(of))
    }

    fn loans(&self, of: usize) -> Vec<ScopeRule> {
        self.children(of).flat_map(|child| self.0[child].rules.clone()).collect()
    }

    fn scope(&self, of: usize) -> Scope {
        Scope::new(self.0[of].rules.clone(), self.loans(of))
    }

    fn lend(&mut self, lender: usize, wanted: &[ScopeRule]) -> Result<(), LendRefusal> {
        let rules = self.scope(lender).lend(wanted, &self.loans(lender))?;
        self.0.push(Member { rules, lender: Some(lender), is_live: true });
        Ok(())
    }

    /// The Pod ends, and so does everybody whose scope comes from it.
    fn reclaim(&mut self, member: usize) {
        self.0[member].is_live = false;
        self.children(member).collect::<Vec<_>>().into_iter().for_each(|child| self.reclaim(child));
    }

    /// What must be true of every family at any time.
    fn check(&self) -> Result<(), TestCaseError> {
        let mut writers = Paths::new();
        for member in self.live() {
            let (reads, writes) = engine_sets(&self.scope(member));
            prop_assert_eq!(&reads, &readable(&self.0[member].rules), "loans take no reading");
            prop_assert!(writes.is_disjoint(&all_of(&self.loans(member), &[Access::Write])), "lent, and written");
            prop_assert!(writes.is_disjoint(&writers), "two of one family write one path");
            writers.extend(writes);
            prop_assert!(reads.is_disjoint(&denied(&self.0[0].rules)), "a deny was lost");
            if let Some(lender) = self.0[member].lender {
                let held = &self.0[lender].rules;
                prop_assert!(reads.is_subset(&readable(held)), "reads more than its lender");
                let writes = writable(&self.0[member].rules, &[]);
                prop_assert!(writes.is_subset(&writable(held, &[])), "writes more than its lender held");
            }
        }
        Ok(())
    }
}

#[derive(Debug, Clone)]
enum Act {
    /// Some live member lends.
    Lend(prop::sample::Index, Vec<ScopeRule>),
    /// Some live member lends what its own rules say, at one rule or part of its folder.
    LendOwn(prop::sample::Index, prop::sample::Index, Option<&'static str>),
    /// Some live member other than the first one ends.
    Reclaim(prop::sample::Index),
}

fn any_act() -> impl Strategy<Value = Act> {
    let name = prop::option::of(prop::sample::select(&NAMES[..]));
    prop_oneof![
        2 => (any::<prop::sample::Index>(), any_rules(3)).prop_map(|(who, rules)| Act::Lend(who, rules)),
        4 => (any::<prop::sample::Index>(), any::<prop::sample::Index>(), name)
            .prop_map(|(who, rule, name)| Act::LendOwn(who, rule, name)),
        1 => any::<prop::sample::Index>().prop_map(Act::Reclaim),
    ]
}

fn carry_out(family: &mut Family, act: Act) {
    let live = family.live();
    match act {
        Act::Lend(who, wanted) => drop(family.lend(*who.get(&live), &wanted)),
        Act::LendOwn(who, rule, name) => {
            let lender = *who.get(&live);
            let rules = family.0[lender].rules.clone();
            if rules.is_empty() || names(&rule.get(&rules).path).len() >= RULE_DEPTH {
                return;
            }
            let mut wanted = rule.get(&rules).clone();
            wanted.path = text(&names(&wanted.path).into_iter().chain(name).collect::<Vec<_>>());
            drop(family.lend(lender, &[wanted]));
        }
        Act::Reclaim(who) if live.len() > 1 => family.reclaim(*who.get(&live[1..])),
        Act::Reclaim(_) => (),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_scope_is_what_its_rules_grant_less_what_they_deny_and_what_is_lent(
        rules in any_rules(5),
        lent in any_rules(3),
    ) {
        let scope = Scope::new(rules.clone(), lent.clone());
        prop_assert_eq!(engine_sets(&scope), (readable(&rules), writable(&rules, &lent)));
    }

    #[test]
    fn a_refusal_says_why(rules in any_rules(4), lent in any_rules(2)) {
        let scope = Scope::new(rules.clone(), lent.clone());
        for path in tree() {
            let has = |paths: Paths| paths.contains(path);
            let (reads, why_not) = (has(readable(&rules)), scope.may_write(&text(path)).err());
            let wanted = match () {
                () if has(denied(&rules)) => Some(ScopeRefusal::Denied),
                () if !reads => Some(ScopeRefusal::Outside),
                () if has(writable(&rules, &lent)) => None,
                () if has(writable(&rules, &[])) => Some(ScopeRefusal::Lent),
                () => Some(ScopeRefusal::ReadOnly),
            };
            prop_assert_eq!(why_not, wanted);
            prop_assert_eq!(scope.may_read(&text(path)).err(), wanted.filter(|_| !reads));
        }
    }

    #[test]
    fn a_loan_is_given_when_it_is_held_and_touches_no_other_loan(
        rules in any_rules(4),
        loans in any_rules(2),
        wanted in any_rule(),
    ) {
        let given = Scope::new(rules.clone(), loans.clone()).lend(std::slice::from_ref(&wanted), &loans);
        let meant = spoken_of(&wanted);
        let grants: &[Access] = if wanted.access == Access::Write { &[Access::Write] } else { &[Access::Read, Access::Write] };
        let is_held = meant.is_subset(&all_of(&rules, grants));
        let touches = |loan: &ScopeRule| loan.access != Access::Deny
            && (loan.access == Access::Write || wanted.access == Access::Write)
            && !spoken_of(loan).is_disjoint(&meant);
        match given {
            Ok(child) if wanted.access == Access::Deny => prop_assert!(readable(&child).is_empty()),
            Ok(child) => {
                prop_assert!(is_held, "lent without being held");
                prop_assert!(!loans.iter().any(touches), "overlaps another loan");
                prop_assert_eq!(readable(&child), &meant - &denied(&rules), "all of it, less the denies");
            }
            Err(LendRefusal::Conflict(_)) => prop_assert!(loans.iter().any(touches)),
            Err(LendRefusal::NotHeld(_)) => {
                // Rules are not added up: a loan comes out of one rule, whose path is not denied.
                let one_holds = rules.iter().any(|rule| grants.contains(&rule.access) && meant.is_subset(&spoken_of(rule)));
                prop_assert!(!one_holds || denied(&rules).contains(&names(&wanted.path)));
            }
            Err(LendRefusal::BadPath(path)) => prop_assert!(false, "{} is a good path", path),
        }
    }

    #[test]
    fn a_family_keeps_to_its_rules_through_loans_subloans_and_reclaims(
        rules in any_rules(4),
        acts in prop::collection::vec(any_act(), 1..12),
    ) {
        let mut family = Family::new(rules);
        let before = engine_sets(&family.scope(0));
        for act in acts {
            carry_out(&mut family, act);
            family.check()?;
        }
        for child in family.children(0).collect::<Vec<_>>() {
            family.reclaim(child);
        }
        prop_assert_eq!(engine_sets(&family.scope(0)), before, "all is back, and denies are still there");
    }
}

#[test]
fn only_absolute_paths_without_tricks_can_be_lent() {
    let everything = ScopeRule { path: "/".to_owned(), access: Access::Write, recursive: true };
    let scope = Scope::new([everything.clone()], []);
    for good in ["/", "/a", "/a/b.c", "/..a", "/a b"] {
        assert!(is_plain(good), "{good}");
        assert!(scope.lend(&[ScopeRule { path: good.to_owned(), ..everything.clone() }], &[]).is_ok());
    }
    for bad in ["", "a", "/a/", "//", "/a//b", "/a/./b", "/a/..", "/..", "/a\0b", "./a"] {
        assert!(!is_plain(bad), "{bad}");
        let refused = scope.lend(&[ScopeRule { path: bad.to_owned(), ..everything.clone() }], &[]);
        assert_eq!(refused, Err(LendRefusal::BadPath(bad.to_owned())));
    }
}

#[test]
fn a_loan_to_a_child_is_its_own_for_writing_until_it_is_back() {
    let write = |path: &str| ScopeRule { path: path.to_owned(), access: Access::Write, recursive: true };
    let deny = ScopeRule { path: "/p/lib/keys".to_owned(), access: Access::Deny, recursive: true };
    let rules = [write("/p"), deny.clone()];
    let child = Scope::new(rules.clone(), []).lend(&[write("/p/lib")], &[]).unwrap();
    assert_eq!(child, [write("/p/lib"), deny], "denies go along");

    let lender = Scope::new(rules.clone(), child.clone());
    assert_eq!(lender.may_write("/p/lib/a.rs"), Err(ScopeRefusal::Lent));
    assert_eq!((lender.may_read("/p/lib/a.rs"), lender.may_write("/p/a.rs")), (Ok(()), Ok(())));
    for other in ["/p/lib", "/p/lib/x", "/p"] {
        assert_eq!(lender.lend(&[write(other)], &child), Err(LendRefusal::Conflict(other.to_owned())));
    }
    assert!(lender.lend(&[write("/p/library")], &child).is_ok());
    assert_eq!(Scope::new(rules, []).may_write("/p/lib/keys/k"), Err(ScopeRefusal::Denied), "reclaimed or not");
}
