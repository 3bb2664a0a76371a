//! Tab and the arrow keys in the command being typed.

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
        // The first press confirms the preselected completion, and moves on only if the line already has that one.
        let to = match (at, step) {
            (None, 1) => 0,
            (None, _) => offers.len() - 1,
            (Some(at), 1) if !is_chosen && !offers[at].is_typed_in(&format!(":{}", line.text.text())) => at,
            (Some(at), step) => (at + offers.len()).saturating_add_signed(step) % offers.len(),
        };
        line.chosen = Some(to);
    }
}

/// Completes the line with the chosen completion, or with the first match.
pub(super) fn take(model: &mut Model) {
    let offers = offers(model);
    let is_begun = model.line.as_ref().is_some_and(|line| !line.text.is_empty());
    let at = choice(model, &offers).or(is_begun.then_some(0));
    let Some(offer) = at.and_then(|at| offers.get(at)) else { return };
    // An argument is expected, so a space follows.
    let wants_more = !offer.argument.is_empty();
    if let Some(line) = &mut model.line {
        line.text = Composer::with(format!("{}{}", offer.line, if wants_more { " " } else { "" }));
        line.chosen = None;
    }
}

/// Whether the arrow keys have chosen a command that needs an argument, or a setting of a new Pod that can have more.
pub(super) fn is_begun(model: &Model) -> bool {
    let offers = offers(model);
    let Some(line) = &model.line else { return false };
    let chosen = line.chosen.and_then(|chosen| offers.get(chosen));
    let is_setting = |offer: &Offer| making::last_setting(&offer.line).is_some() && line.text.text() != offer.line;
    chosen.is_some_and(|offer| offer.refusal.is_none() && (!offer.argument.is_empty() || is_setting(offer)))
}

/// The line chosen with the arrow keys.
pub(super) fn chosen(model: &Model) -> Option<String> {
    let chosen = model.line.as_ref()?.chosen?;
    offers(model).get(chosen).map(|offer| offer.line.clone())
}
