//! What Tab and the arrows make of the command that is typed.

use commands::Offer;

use crate::{
    composer::Composer,
    making,
    model::Model,
    offering::{choice, offers},
};

pub(super) fn choose(model: &mut Model, step: isize) {
    let offers = offers(model);
    let at = choice(model, &offers);
    let is_chosen = model.line.as_ref().is_some_and(|line| line.chosen.is_some());
    if let Some(line) = &mut model.line
        && !offers.is_empty()
    {
        // The first press says that the choice counts, and moves it only where the line has that one already.
        let to = match (at, step) {
            (None, 1) => 0,
            (None, _) => offers.len() - 1,
            (Some(at), 1) if !is_chosen && !offers[at].is_typed_in(&format!(":{}", line.text.text())) => at,
            (Some(at), step) => (at + offers.len()).saturating_add_signed(step) % offers.len(),
        };
        line.chosen = Some(to);
    }
}

/// Puts the choice into the line, or the first that fits what has been begun.
pub(super) fn take(model: &mut Model) {
    let offers = offers(model);
    let is_begun = model.line.as_ref().is_some_and(|line| !line.text.is_empty());
    let at = choice(model, &offers).or(is_begun.then_some(0));
    let Some(offer) = at.and_then(|at| offers.get(at)) else { return };
    // What comes behind a sign comes at once.
    let wants_more = !offer.argument.is_empty();
    if let Some(line) = &mut model.line {
        line.text = Composer::with(format!("{}{}", offer.line, if wants_more { " " } else { "" }));
        line.chosen = None;
    }
}

/// The arrows have chosen a command that needs something after it, or a setting of a Pod that has more of them.
pub(super) fn is_begun(model: &Model) -> bool {
    let offers = offers(model);
    let Some(line) = &model.line else { return false };
    let chosen = line.chosen.and_then(|chosen| offers.get(chosen));
    let is_setting = |offer: &Offer| making::last_setting(&offer.line).is_some() && line.text.text() != offer.line;
    chosen.is_some_and(|offer| offer.refusal.is_none() && (!offer.argument.is_empty() || is_setting(offer)))
}

/// What the arrows have chosen.
pub(super) fn chosen(model: &Model) -> Option<String> {
    let chosen = model.line.as_ref()?.chosen?;
    offers(model).get(chosen).map(|offer| offer.line.clone())
}
