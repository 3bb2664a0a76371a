//! A call whose future is dropped changes nothing later, and reports when it is over.

use std::{
    sync::mpsc,
    task::{Context, Waker},
};

use serde_json::json;
use tools::{Lifeline, Toolbox};

use crate::place::Desk;

#[test]
fn a_call_that_is_given_up_before_its_turn_does_nothing() {
    let desk = Desk::new();
    let toolbox = Toolbox::new(tools::files::tools());
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    let (go, wait) = mpsc::channel::<()>();
    runtime.spawn_blocking(move || wait.recv());

    let (lifeline, mut ended) = Lifeline::pair();
    let mut place = desk.place();
    place.lifeline = lifeline;
    let (output, _pieces) = tokio::sync::mpsc::channel(1);
    let tool = toolbox.get("Write").unwrap();
    {
        let _entered = runtime.enter();
        let mut call = tool.call(&place, json!({ "path": "a.txt", "content": "x" }), output);
        assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending(), "it waits for a thread");
    }
    drop(place);
    go.send(()).unwrap();
    assert_eq!(runtime.block_on(ended.recv()), None, "all shares are gone");
    assert!(!std::fs::exists(desk.path("w/a.txt")).unwrap());
}
