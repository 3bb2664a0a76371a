use leptos::prelude::*;
use protocol::{HeldCommand, HeldDecision, PodRef};

use crate::{
    components::{
        deed::{Deed, DeedButton},
        problem::Problem,
    },
    console::fresh_command,
    server_fns::decide_held,
};

/// The buttons that release or drop a held message. Both Pods' pages show them; the first decision counts.
#[component]
pub(crate) fn HeldActs(pod: PodRef, message_id: String) -> impl IntoView {
    let deed = Deed::default();
    let decide = move |decision: HeldDecision| {
        let (pod, message_id) = (pod.clone(), message_id.clone());
        deed.begin(Box::pin(async move {
            decide_held(pod, fresh_command(), message_id, HeldCommand { decision }).await.map(drop)
        }));
    };
    let drop_it = decide.clone();
    let release = move || decide(HeldDecision::Release);
    view! {
        <div class="held-acts">
            <DeedButton deed=deed words="Release" title="Deliver it now" press=release />
            <DeedButton
                deed=deed
                words="Drop"
                title="Refuse it; it is never delivered"
                press=move || drop_it(HeldDecision::Drop)
            />
        </div>
        <Problem error=deed.error />
    }
}

/// Why a message is held, as far as its hop count tells; the limits are those of the runtime's guard.
pub(crate) fn held_words(hops: Option<u32>) -> String {
    match hops {
        Some(hops) if hops > 8 => format!("{hops} automatic steps since your last message"),
        Some(_) => "these two write too fast, or the receiver was woken too often".to_owned(),
        None => "too many automatic steps, two Pods that write too fast, or a receiver woken too often".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_says_how_far_it_is_from_a_person() {
        assert!(held_words(Some(9)).starts_with("9 automatic steps"));
    }
}
