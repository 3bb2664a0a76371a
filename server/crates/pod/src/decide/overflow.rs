//! A request that is longer than the model's context: older turns are summarised, and it is sent again.

use protocol::{AlertLevel, ControlEvent, Outcome, PodState, Seq, Timestamp, Trigger, Usage};

use super::{
    Effect,
    draft::Draft,
    summary::{PROVIDER_ERROR, take_back},
};
use crate::{Cause, Failure, Newest, Pod, PodSpec, QuestionSize};

/// The code of such a failure in `provider_retry` and `run_finished`.
pub(crate) const OVERFLOW: &str = "context_overflow";
/// The code of a run that a provider's usage limit ended.
const USAGE_LIMIT: &str = "usage_limit";
/// The code of a suspected failure of this kind in `provider_retry`.
pub(crate) const SUSPECTED: &str = "context_overflow_suspected";

/// How often a request is shortened and sent again before its run fails. Each time it is less than half as long.
const OVERFLOWS_MAX: u32 = 5;
/// With this many estimated tokens, a conversation may have been too long for a model of unknown size.
const LARGE_TOKENS: u64 = 2_000;
/// The percentage of a model's context from which a request may have been too long.
const NEARLY_FULL_PERCENT: u64 = 80;

/// The answer failed, either because its request was too long, as far as can be known, or for another reason.
pub(crate) fn failed(draft: &mut Draft, spec: &PodSpec, failure: Failure) {
    let overflows = draft.pod.run.as_ref().map_or(0, |run| run.overflows);
    let room = room(&draft.pod, &failure, overflows).filter(|_| overflows < OVERFLOWS_MAX);
    draft.close_answer();
    draft.close_calls("cancelled", "not run: the provider failed before the answer was whole");
    match (room, failure.until) {
        (Some(room), _) => make_room(draft, &failure, room, overflows + 1),
        (None, Some(until)) => limited(draft, spec, until, failure.detail),
        (None, None) => end(draft, &failure.code, failure.detail),
    }
}

/// The provider accepts no more before `until`. The Pod pauses, and later resumes by itself if it is set to, but never
/// twice in a row.
fn limited(draft: &mut Draft, spec: &PodSpec, until: Timestamp, detail: String) {
    let is_again = draft.pod.run.as_ref().is_some_and(|run| run.trigger == Trigger::Limit);
    draft.event(ControlEvent::LimitReached { until, resumes: spec.auto_resume && !is_again });
    draft.finish_run(Outcome::Error, Some((USAGE_LIMIT.to_owned(), detail)));
    let reason = format!("the provider's usage limit is reached until {}", until.strftime("%Y-%m-%d %H:%M UTC"));
    draft.status(PodState::Paused, Some(&reason));
}

/// An empty answer may mean that the request was too long. Returns false if nothing suggests that.
pub(crate) fn said_nothing(draft: &mut Draft, asked: QuestionSize) -> bool {
    let detail = "the model answered nothing".to_owned();
    let failure = Failure { cause: Cause::Unexplained, asked, ..Failure::new(PROVIDER_ERROR, detail) };
    let overflows = draft.pod.run.as_ref().map_or(0, |run| run.overflows);
    let room = room(&draft.pod, &failure, overflows);
    if let Some(room) = room {
        draft.close_speech(false);
        make_room(draft, &failure, room, overflows + 1);
    }
    room.is_some()
}

/// The limits for the next request: by our own estimate, and as the model's context limit. In tokens.
#[derive(Clone, Copy)]
struct Sizes {
    fits: u64,
    limit: u64,
}

/// `None` if the request's length was not the cause.
fn room(pod: &Pod, failure: &Failure, overflows: u32) -> Option<Sizes> {
    let (known, QuestionSize { whole: asked, said }) = (pod.usage.context_limit, failure.asked);
    match failure.cause {
        Cause::Overflow { limit, used } => {
            let within = |limit: u64| asked.min(if limit == 0 { asked } else { limit });
            Some(match (limit, used) {
                // Scales our own estimate of the request by its real size.
                (Some(limit), Some(used)) if used > limit => {
                    let fits = u128::from(asked) * u128::from(limit) / u128::from(used);
                    Sizes { fits: u64::try_from(fits).unwrap_or(asked), limit }
                }
                (Some(limit), _) => Sizes { fits: within(limit), limit },
                (None, _) => Sizes { fits: within(known), limit: within(known) },
            })
        }
        Cause::Unexplained => {
            let is_near = known > 0 && asked * 100 >= known * NEARLY_FULL_PERCENT;
            let is_repeated = pod.failures > 0 && said >= LARGE_TOKENS;
            (overflows == 0 && (is_near || is_repeated)).then_some(Sizes { fits: asked, limit: known })
        }
        Cause::Other => None,
    }
}

fn make_room(draft: &mut Draft, failure: &Failure, Sizes { fits, limit }: Sizes, attempt: u32) {
    let code = if failure.cause == Cause::Unexplained { SUSPECTED } else { OVERFLOW }.to_owned();
    draft.event(ControlEvent::ProviderRetry { attempt, wait_ms: 0, code, detail: failure.detail.clone() });
    draft.event(ControlEvent::Usage { usage: Usage { context_used: fits, context_limit: limit, ..Usage::default() } });
    draft.status(PodState::Running, Some("the model's context is full; older turns are being summarised"));
    draft.effect(Effect::Summarise);
}

/// Raises an alert once there is room, before the request is sent again.
pub(super) fn tell_room(draft: &mut Draft, was_suspected: bool) {
    let text = match was_suspected {
        true => "The model's context may have been full; older turns were summarised and the question was asked again.",
        false => "The model's context was full; older turns were summarised and the question was asked again.",
    };
    draft.event(ControlEvent::Alert {
        level: AlertLevel::Note,
        source: "compaction".to_owned(),
        text: text.to_owned(),
        model: None,
    });
    draft.status(PodState::Running, None);
}

/// No summary makes enough room. The newest message is removed from the context, to leave room for a shorter one. If
/// the overflow was only suspected, the run ends with the provider's own error instead.
pub(super) fn give_up(draft: &mut Draft, Newest { at, tokens, always, left }: Newest) {
    if let Some(detail) = draft.pod.suspicion.clone() {
        return end(draft, PROVIDER_ERROR, detail);
    }
    let limit = match draft.pod.learnt_limit {
        0 => String::new(),
        limit => format!(" of {limit} tokens"),
    };
    let detail = match at {
        Some(_) => format!(
            "the question is longer than the model's context{limit}: the newest message alone is about {tokens} tokens, \
             instructions and tools about {always}; it was taken back: send a shorter one, or use a model with a larger context"
        ),
        None => format!(
            "the question is longer than the model's context{limit}: instructions and tools alone are about {always} tokens; \
             use a model with a larger context, or a profile with fewer tools"
        ),
    };
    if let Some(at) = at {
        take_back(draft, Seq(at.0 - 1));
        let context_limit = draft.pod.usage.context_limit;
        draft.event(ControlEvent::Usage { usage: Usage { context_used: left, context_limit, ..Usage::default() } });
    }
    end(draft, OVERFLOW, detail);
}

pub(super) fn end(draft: &mut Draft, code: &str, detail: String) {
    draft.finish_run(Outcome::Error, Some((code.to_owned(), detail)));
    draft.status(PodState::Idle, None);
}
