//! Tools that look from inside: what a scope allows, and one that does not end at once.

use std::time::Duration;

use pod::ToolOutcome;
use protocol::PermissionDecision;
use serde_json::{Value, json};
use tools::{Output, Place, Tool};

/// Reports what the scope of the calling Pod allows for a path.
#[derive(Debug)]
pub struct Probe;

#[async_trait::async_trait]
impl Tool for Probe {
    fn name(&self) -> &'static str {
        "Probe"
    }

    fn description(&self) -> &'static str {
        "Says whether a path may be read and written."
    }

    fn schema(&self) -> Value {
        json!({ "type": "object" })
    }

    fn default_permission(&self) -> PermissionDecision {
        PermissionDecision::Allow
    }

    async fn call(&self, place: &Place, arguments: Value, _: Output) -> ToolOutcome {
        let path = arguments["path"].as_str().unwrap();
        let word =
            |may: Result<(), pod::ScopeRefusal>| may.map_or_else(|refusal| refusal.to_string(), |()| "yes".into());
        ToolOutcome::done(format!("{}|{}", word(place.scope.may_read(path)), word(place.scope.may_write(path))))
    }
}

/// Writes to a file, again and again, from a thread that continues for a while after the call was given up.
#[derive(Debug)]
pub struct Linger;

#[async_trait::async_trait]
impl Tool for Linger {
    fn name(&self) -> &'static str {
        "Linger"
    }

    fn description(&self) -> &'static str {
        "Writes to a file, and does not stop at once."
    }

    fn schema(&self) -> Value {
        json!({ "type": "object" })
    }

    fn default_permission(&self) -> PermissionDecision {
        PermissionDecision::Allow
    }

    async fn call(&self, place: &Place, arguments: Value, output: Output) -> ToolOutcome {
        let path = arguments["path"].as_str().unwrap().to_owned();
        let lifeline = place.lifeline.clone();
        let began = output.clone();
        std::thread::spawn(move || {
            let mut after_the_end = 0;
            while after_the_end < 40 {
                std::fs::write(&path, format!("{after_the_end}")).unwrap();
                std::thread::sleep(Duration::from_millis(5));
                after_the_end += i32::from(output.is_closed());
            }
            std::fs::write(&path, "over").unwrap();
            drop(lifeline);
        });
        began.send("writing".to_owned()).await.unwrap();
        std::future::pending().await
    }
}

/// Once it was given up, it makes one file and goes on until there is another one.
#[derive(Debug)]
pub struct Meet;

#[async_trait::async_trait]
impl Tool for Meet {
    fn name(&self) -> &'static str {
        "Meet"
    }

    fn description(&self) -> &'static str {
        "Waits for another call to be given up, too."
    }

    fn schema(&self) -> Value {
        json!({ "type": "object" })
    }

    fn default_permission(&self) -> PermissionDecision {
        PermissionDecision::Allow
    }

    async fn call(&self, place: &Place, arguments: Value, output: Output) -> ToolOutcome {
        let path = |name: &str| std::path::PathBuf::from(arguments[name].as_str().unwrap());
        let (own, other, lifeline, began) = (path("own"), path("other"), place.lifeline.clone(), output.clone());
        std::thread::spawn(move || {
            while !output.is_closed() {
                std::thread::sleep(Duration::from_millis(5));
            }
            std::fs::write(own, "").unwrap();
            // Not for ever: the test fails long before.
            for _ in 0..6_000 {
                if other.exists() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            drop(lifeline);
        });
        began.send("waiting".to_owned()).await.unwrap();
        std::future::pending().await
    }
}
