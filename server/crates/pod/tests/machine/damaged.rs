//! Journals with unreadable records: what a model is sent is still a valid conversation.

use pod::Context;
use proptest::prelude::*;
use protocol::{Event, Role, TurnEvent};

use crate::{
    journal::*,
    world::{World, any_act, check_conversation},
};

/// The context without the events that `is_lost` selects, counted from the first.
fn context_without(journal: &Journal, is_lost: impl Fn(usize, &TurnEvent) -> bool) -> Context {
    let mut context = Context::new(&spec(), &journal.pod.bare_runs);
    let turns = journal.records.iter().filter_map(|record| match &record.event {
        Event::Turn(event) => Some((record, event)),
        Event::Control(_) | Event::Unknown(_) => None,
    });
    for (index, (record, event)) in turns.enumerate() {
        if !is_lost(index, event) {
            context.push(record.seq, record.run_id.as_deref(), event);
        }
    }
    context
}

#[test]
fn a_result_that_is_lost_is_told_to_be_and_one_without_its_call_goes() {
    let inputs = [submit(), call("Read"), finished(), ended("call-b1", "ok"), text("so it is"), finished()];
    let journal = Journal::default().all(inputs);
    let roles = |context: &Context| context.messages().iter().map(|message| message.role).collect::<Vec<_>>();
    let whole = journal.context();
    let mut mended = whole.clone();
    mended.mend();
    assert_eq!(mended.messages(), whole.messages(), "nothing is wrong with it");

    let mut context = context_without(&journal, |_, event| matches!(event, TurnEvent::ToolFinished { .. }));
    context.mend();
    let messages = context.messages();
    check_conversation(&messages);
    assert!(messages.iter().any(|message| message.role == Role::Tool && message.content.contains("is damaged")));

    let mut context = context_without(&journal, |_, event| matches!(event, TurnEvent::ToolCalled { .. }));
    context.mend();
    assert_eq!(roles(&context), [Role::System, Role::User, Role::Assistant]);

    let mut context = context_without(&journal, |_, event| matches!(event, TurnEvent::UserMessage { .. }));
    context.mend();
    assert_eq!(roles(&context), roles(&whole));
    assert!(context.messages()[1].content.contains("is damaged"));
}

proptest! {
    /// Whatever is lost from whatever has happened.
    #[test]
    fn a_conversation_with_gaps_is_mended_to_one_that_a_provider_takes(
        acts in prop::collection::vec(any_act(), 0..80),
        lost in prop::collection::vec(prop::bool::weighted(0.15), 400),
    ) {
        let mut world = World::default();
        acts.iter().for_each(|act| world.act(act));
        let mut context = context_without(&world.journal, |index, _| lost.get(index).copied().unwrap_or_default());
        context.mend();
        let messages = context.messages();
        check_conversation(&messages);
        prop_assert!(messages.get(1).is_none_or(|first| first.role == Role::User));
        let once = context.clone();
        context.mend();
        prop_assert_eq!(once.messages(), context.messages());
    }
}
