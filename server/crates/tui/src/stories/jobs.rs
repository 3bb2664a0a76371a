use super::*;

fn jobs() -> Vec<protocol::BackgroundCommand> {
    let job = |id: &str, command: &str, state: &str| {
        json!({ "id": id, "command": command, "cwd": "/w", "by": "model", "state": state,
            "started_at": "2026-01-01T00:00:00Z", "bytes": 3 })
    };
    serde_json::from_value(json!([job("call-b1", "npm run dev", "running"), job("call-b2", "make watch", "exited")]))
        .unwrap()
}

#[test]
fn background_commands_are_listed_and_one_is_stopped() {
    let mut story = Story::with_ada();
    story.enters(":jobs");
    assert_eq!(story.effects, [Effect::LoadJobs(address("ada"))]);
    story.shows("Background commands of ada");
    story.happens(Message::Jobs { pod: address("ada"), done: Ok(jobs()) });
    story.shows("> call-b1      running                  npm run dev");
    story.types("x");
    assert_eq!(story.act(), (address("ada"), Act::StopJob("call-b1".to_owned())));
    story.done(Ok(Answer::Accepted));
    story.shows("the background command is stopped");
    story.types("jx");
    story.shows("it has ended");
    story.types("r");
    assert_eq!(story.effects, [Effect::LoadJobs(address("ada"))]);
    story.happens(Message::Jobs { pod: address("ada"), done: Ok(Vec::new()) });
    story.shows("Nothing runs in the background.");
    story.key(KeyCode::Esc);
    story.shows_not("Nothing runs in the background.");
}
