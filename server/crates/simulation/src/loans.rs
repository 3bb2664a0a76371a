//! What must hold of what Pods lend to their children.
//!
//! - A place that is lent for writing is lent to one child alone, and its lender does not write there meanwhile.
//! - A child holds, lends on and writes only what it was lent, and gets back the same when it is restored.
//! - Each loan ends once: with the child's stop, which the journals of both have. What is lent at the end of the day is
//!   what the lender's journal says, whatever died.

use std::collections::BTreeMap;

use serde_json::Value;

/// The tool with which simulated Pods write.
pub(crate) const MARK: &str = "Mark";

/// What the journals of all Pods say of loans, by Pod.
#[derive(Debug, Default)]
pub(crate) struct Loans(BTreeMap<String, Ledger>);

/// One Pod's journal.
#[derive(Debug, Default)]
struct Ledger {
    /// By child.
    lent: BTreeMap<String, Loan>,
    /// Where it has written.
    marks: Vec<String>,
    /// How often it was stopped and restored.
    stops: usize,
    restores: usize,
    is_stopped: bool,
    /// Calls that write and have not ended: where, and since which record.
    writing: BTreeMap<String, (String, u64)>,
}

/// What was lent to one child.
#[derive(Debug, Default)]
struct Loan {
    rules: Vec<Rule>,
    /// The record with which it began; `None` while it is back.
    since: Option<u64>,
    /// How often it was lent and came back.
    begun: usize,
    ended: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Rule {
    path: String,
    is_write: bool,
}

impl Loans {
    /// Takes the whole journal of a Pod.
    ///
    /// # Errors
    /// What does not hold.
    pub(crate) fn read(&mut self, pod: &str, records: &[Value]) -> Result<(), String> {
        let mut ledger = Ledger::default();
        for record in records {
            let seq = record["seq"].as_u64().unwrap_or_default();
            ledger.take(pod, seq, &record["event"]).map_err(|what| format!("{pod} at {seq}: {what}"))?;
        }
        self.0.insert(pod.to_owned(), ledger);
        Ok(())
    }

    /// A Pod's children, as its server shows them once everything is at rest. Its journal has been read.
    ///
    /// # Errors
    /// What does not hold.
    pub(crate) fn rests(&self, pod: &str, children: &[Value]) -> Result<(), String> {
        let none = BTreeMap::new();
        let lent = self.0.get(pod).map_or(&none, |ledger| &ledger.lent);
        for view in children {
            let (id, shown) = (named(pod, view), rules(&view["scope"]));
            let known = lent.get(&id).filter(|loan| loan.since.is_some()).map(|loan| loan.rules.clone());
            if known.clone().unwrap_or_default() != shown {
                return Err(format!("{pod} lends {shown:?} to {id}, and its journal says {known:?}"));
            }
            if (view["state"] == "stopped") != known.is_none() {
                return Err(format!("{id} is {}, and {pod} lends to it: {known:?}", view["state"]));
            }
        }
        Ok(())
    }

    /// Once all journals are read.
    ///
    /// # Errors
    /// What does not hold.
    pub(crate) fn ends(&self) -> Result<(), String> {
        for (lender, id, loan) in self.all() {
            let Some(child) = self.0.get(id) else { return Err(format!("{lender} lends to {id}, which is not there")) };
            if (loan.ended, loan.begun) != (child.stops, child.restores + 1) {
                return Err(format!(
                    "{lender} lent to {id} {} times and has had it back {} times; it was stopped {} times and restored {}",
                    loan.begun, loan.ended, child.stops, child.restores
                ));
            }
            if let Some(path) = child.marks.iter().find(|path| !loan.rules.iter().any(|rule| rule.lets_write(path))) {
                return Err(format!("{id} wrote {path}, and was lent {:?}", loan.rules));
            }
            let lent_on = child.lent.values().flat_map(|loan| &loan.rules);
            if let Some(rule) = lent_on.clone().find(|rule| !loan.rules.iter().any(|own| own.includes(rule))) {
                return Err(format!("{id} lent {rule:?}, and was lent {:?}", loan.rules));
            }
        }
        Ok(())
    }

    /// Lender, child, loan.
    fn all(&self) -> impl Iterator<Item = (&String, &String, &Loan)> {
        self.0.iter().flat_map(|(lender, ledger)| ledger.lent.iter().map(move |(id, loan)| (lender, id, loan)))
    }
}

/// Whether the children of a Pod, as they were read at any time, hold what they cannot hold together.
///
/// # Errors
/// What does not hold.
pub(crate) fn apart(pod: &str, children: &[Value]) -> Result<(), String> {
    for (number, one) in children.iter().enumerate() {
        for other in &children[number + 1..] {
            if conflict(&rules(&one["scope"]), &rules(&other["scope"])) {
                return Err(format!("{pod} lends the same to {one} and to {other}"));
            }
        }
    }
    Ok(())
}

impl Ledger {
    fn take(&mut self, pod: &str, seq: u64, event: &Value) -> Result<(), String> {
        match event["kind"].as_str().unwrap_or_default() {
            kind @ ("child_spawned" | "scope_changed") => {
                let is_new = kind == "child_spawned";
                self.lends(named(pod, &event["child"]), rules(&event["scope"]), seq, is_new)
            }
            "child_stopped" => {
                let id = named(pod, &event["child"]);
                let loan = self.lent.get_mut(&id).filter(|loan| loan.since.is_some());
                let loan = loan.ok_or_else(|| format!("{id} gives back what it was not lent"))?;
                loan.since = None;
                loan.ended += 1;
                match loan.rules == rules(&event["scope"]) {
                    true => Ok(()),
                    false => Err(format!("{id} was lent {:?} and gives back {}", loan.rules, event["scope"])),
                }
            }
            "status" => {
                let is_stopped = event["state"] == "stopped";
                self.stops += usize::from(is_stopped && !self.is_stopped);
                self.restores += usize::from(self.is_stopped && !is_stopped);
                self.is_stopped = is_stopped;
                Ok(())
            }
            "tool_called" if event["name"] == MARK => {
                let path = event["arguments"]["path"].as_str().unwrap_or_default().to_owned();
                let call = event["call_id"].as_str().unwrap_or_default();
                self.writing.insert(call.to_owned(), (path, seq));
                Ok(())
            }
            "tool_finished" => {
                let call = event["call_id"].as_str().unwrap_or_default();
                match self.writing.remove(call).filter(|_| event["is_error"] == false) {
                    Some((path, since)) => self.wrote(path, since),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn lends(&mut self, id: String, rules: Vec<Rule>, seq: u64, is_new: bool) -> Result<(), String> {
        let open = self.lent.iter().filter(|(_, loan)| loan.since.is_some());
        if let Some((other, loan)) = open.clone().find(|(other, loan)| **other == id || conflict(&loan.rules, &rules)) {
            return Err(format!("{rules:?} is lent to {id} while {:?} is lent to {other}", loan.rules));
        }
        let is_known = self.lent.contains_key(&id);
        let loan = self.lent.entry(id.clone()).or_default();
        if is_new == is_known || (is_known && loan.rules != rules) {
            return Err(format!("{rules:?} is lent to {id}, which was lent {:?} before", loan.rules));
        }
        loan.rules = rules;
        loan.since = Some(seq);
        loan.begun += 1;
        Ok(())
    }

    /// It wrote, at some time after this record.
    fn wrote(&mut self, path: String, since: u64) -> Result<(), String> {
        let lent = self.lent.iter().filter(|(_, loan)| loan.since.is_some_and(|lent| lent < since));
        let mut both = lent.filter(|(_, loan)| loan.rules.iter().any(|rule| rule.lets_write(&path)));
        if let Some((id, _)) = both.next() {
            return Err(format!("it wrote {path}, which is lent to {id}"));
        }
        self.marks.push(path);
        Ok(())
    }
}

impl Rule {
    fn lets_write(&self, path: &str) -> bool {
        self.is_write && is_within(path, &self.path)
    }

    /// Whoever has this may lend that.
    fn includes(&self, other: &Self) -> bool {
        (self.is_write || !other.is_write) && is_within(&other.path, &self.path)
    }
}

fn conflict(ours: &[Rule], others: &[Rule]) -> bool {
    ours.iter().any(|one| {
        others.iter().any(|other| {
            let overlap = is_within(&one.path, &other.path) || is_within(&other.path, &one.path);
            overlap && (one.is_write || other.is_write)
        })
    })
}

fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What a scope grants, in one order. No simulated Pod has a rule that denies, and all rules are recursive.
fn rules(scope: &Value) -> Vec<Rule> {
    let rule = |rule: &Value| {
        let path = rule["path"].as_str().unwrap_or_default().to_owned();
        Rule { path, is_write: rule["access"] == "write" }
    };
    let mut rules: Vec<Rule> = scope.as_array().map(Vec::as_slice).unwrap_or_default().iter().map(rule).collect();
    rules.sort();
    rules
}

/// A child, by the name that its parent has in the model.
fn named(parent: &str, child: &Value) -> String {
    let server = parent.rsplit_once('/').map_or("", |(server, _)| server);
    format!("{server}/{}", child["pod"]["worker_id"].as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LENDER: &str = "server-0/ada";

    fn scope(path: &str, access: &str) -> Value {
        json!([{ "path": path, "access": access, "recursive": true }])
    }

    fn told(kind: &str, child: &str, path: &str) -> Value {
        let scope = scope(path, "write");
        json!({ "kind": kind, "child": { "pod": { "worker_id": child }, "name": child }, "scope": scope })
    }

    fn marked(path: &str) -> [Value; 2] {
        let called = json!({ "kind": "tool_called", "name": MARK, "call_id": path, "arguments": { "path": path } });
        [called, json!({ "kind": "tool_finished", "call_id": path, "is_error": false })]
    }

    fn status(state: &str) -> Value {
        json!({ "kind": "status", "state": state })
    }

    /// What does not hold of a lender and its child, if anything.
    fn held(lender: Vec<Value>, child: Vec<Value>, at_rest: &Value) -> Result<(), String> {
        let mut loans = Loans::default();
        let journal = |events: Vec<Value>| -> Vec<Value> {
            events.into_iter().enumerate().map(|(seq, event)| json!({ "seq": seq + 1, "event": event })).collect()
        };
        loans.read(LENDER, &journal(lender))?;
        loans.read("server-0/bob", &journal(child))?;
        loans.rests(LENDER, std::slice::from_ref(at_rest))?;
        loans.ends()
    }

    fn bob(state: &str, scope: Value) -> Value {
        json!({ "pod": { "worker_id": "bob" }, "state": state, "scope": scope })
    }

    #[test]
    fn a_loan_that_ends_begins_again_and_is_written_to_breaks_nothing() {
        let (spawned, stopped) = (told("child_spawned", "bob", "/usr"), told("child_stopped", "bob", "/usr"));
        let mut lender = vec![spawned, stopped];
        lender.extend(marked("/usr/mark"));
        lender.push(told("scope_changed", "bob", "/usr"));
        lender.extend(marked("/var/mark"));
        let mut child = vec![status("stopped"), status("idle")];
        child.extend(marked("/usr/lib/mark"));
        assert_eq!(held(lender, child, &bob("idle", scope("/usr", "write"))), Ok(()));
    }

    #[test]
    fn whatever_must_hold_of_loans_is_missed_when_it_does_not() {
        let spawned = || told("child_spawned", "bob", "/usr");
        let back = || told("child_stopped", "bob", "/usr");
        let lent = || bob("idle", scope("/usr", "write"));
        let free = || bob("stopped", json!([]));
        let with = |events: [Value; 2]| [vec![spawned()], events.to_vec()].concat();
        let cases: [(&str, Vec<Value>, Vec<Value>, Value); 9] = [
            ("twice", with([told("child_spawned", "cid", "/usr/lib"), json!({})]), vec![], lent()),
            ("written meanwhile", with(marked("/usr/mark")), vec![], lent()),
            ("back twice", with([back(), back()]), vec![status("stopped")], free()),
            ("back with something else", with([told("child_stopped", "bob", "/var"), json!({})]), vec![], free()),
            ("never back", vec![spawned()], vec![status("stopped")], lent()),
            ("more than before", with([back(), told("scope_changed", "bob", "/")]), vec![], lent()),
            ("not what was lent", vec![spawned()], marked("/var/mark").to_vec(), lent()),
            ("lent on", vec![spawned()], vec![told("child_spawned", "cid", "/var")], lent()),
            ("shown otherwise", vec![spawned()], vec![], bob("idle", scope("/usr", "read"))),
        ];
        for (name, lender, child, at_rest) in cases {
            assert!(held(lender, child, &at_rest).is_err(), "{name}");
        }
        let siblings = [bob("idle", scope("/usr", "write")), bob("idle", scope("/usr/lib", "read"))];
        assert!(apart(LENDER, &siblings).is_err());
    }
}
