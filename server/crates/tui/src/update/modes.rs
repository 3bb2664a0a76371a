//! Walking through the modes of the open Pod. A mode that was walked to is only shown at first, and holds after a moment:
//! one that is passed on the way to another answers no question.

use crate::model::{Act, Effect, Model, Walked};

/// Shows the next mode.
pub(super) fn walk(model: &mut Model) {
    model.walks += 1;
    let step = model.walks;
    let Some(open) = &mut model.open else { return };
    open.walked = Some(Walked { mode: open.shown_mode().next(), step });
    model.start(Effect::Rest(step));
}

/// Nothing was walked since this step, unless a newer one waits.
pub(super) fn rested(model: &mut Model, step: u64) {
    let is_newest = model.open.as_ref().and_then(|open| open.walked.as_ref()).is_some_and(|walked| walked.step == step);
    if is_newest {
        apply(model);
    }
}

/// Makes the mode hold that was walked to, if one was.
pub(super) fn apply(model: &mut Model) {
    let Some(open) = &mut model.open else { return };
    let Some(Walked { mode, .. }) = open.walked.take().filter(|walked| walked.mode != open.mode) else { return };
    // As it will be: what the server says of it follows.
    open.mode = mode;
    let pod = open.pod.clone();
    model.act(pod, Act::Mode(mode.to_string()));
}
