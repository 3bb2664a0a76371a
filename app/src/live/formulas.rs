//! Has formulas drawn by the server: those that come within a moment in one call.

use std::{cell::RefCell, collections::VecDeque};

use transcript::markup::Formula;
use wasm_bindgen_futures::spawn_local;

use super::browser;
use crate::server_fns::{FORMULAS_MAX, draw_formulas};

/// Formulas within this many milliseconds are drawn together.
const GATHER_MS: u32 = 60;
/// How many drawn formulas are kept for when they are shown again.
const KEPT_MAX: usize = 256;

type Told = Box<dyn FnOnce(String)>;

#[derive(Default)]
struct Desk {
    asks: Vec<(Formula, Told)>,
    kept: VecDeque<(Formula, String)>,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

/// The drawn form of this formula, if it is kept; empty if it cannot be drawn.
pub(crate) fn formula_known(formula: &Formula) -> Option<String> {
    DESK.with_borrow(|desk| desk.kept.iter().find(|(known, _)| known == formula).map(|(_, drawn)| drawn.clone()))
}

/// Calls `told` with the drawn form of this formula; with an empty one if it cannot be drawn.
pub(crate) fn draw_formula(formula: Formula, told: impl FnOnce(String) + 'static) {
    let is_first = DESK.with_borrow_mut(|desk| {
        desk.asks.push((formula, Box::new(told)));
        desk.asks.len() == 1
    });
    if is_first {
        browser::after(GATHER_MS, call);
    }
}

/// One call for the oldest ones. If it fails, they stay as they were written.
fn call() {
    let (asks, has_more) = DESK.with_borrow_mut(|desk| {
        let count = desk.asks.len().min(FORMULAS_MAX);
        let asks: Vec<_> = desk.asks.drain(..count).collect();
        (asks, !desk.asks.is_empty())
    });
    if has_more {
        browser::after(GATHER_MS, call);
    }
    spawn_local(async move {
        let formulas = asks.iter().map(|(formula, _)| formula.clone()).collect();
        let Ok(drawn) = draw_formulas(formulas).await else { return };
        for ((formula, told), drawn) in asks.into_iter().zip(drawn) {
            DESK.with_borrow_mut(|desk| {
                if desk.kept.len() == KEPT_MAX {
                    desk.kept.pop_front();
                }
                desk.kept.push_back((formula, drawn.clone()));
            });
            told(drawn);
        }
    });
}
