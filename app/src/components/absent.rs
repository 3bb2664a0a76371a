use leptos::prelude::*;
use protocol::RuntimeId;

/// A note below results gathered from several servers, naming those whose part is missing. `None` when none is
/// missing.
pub(crate) fn absent(runtimes: &[RuntimeId]) -> Option<AnyView> {
    let words = words(runtimes)?;
    Some(view! { <p class="hint absent">{words}</p> }.into_any())
}

/// `box does not answer; its part is missing here.`
fn words(runtimes: &[RuntimeId]) -> Option<String> {
    let names: Vec<&str> = runtimes.iter().map(RuntimeId::as_str).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("{one} does not answer; its part is missing here.")),
        [first @ .., last] => {
            Some(format!("{} and {last} do not answer; their part is missing here.", first.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_all_that_are_missing_and_is_not_there_when_none_is() {
        let told = |names: &[&str]| words(&names.iter().map(|name| name.parse().unwrap()).collect::<Vec<_>>());
        assert_eq!(told(&[]), None);
        assert_eq!(told(&["box"]).unwrap(), "box does not answer; its part is missing here.");
        assert_eq!(told(&["a", "b", "c"]).unwrap(), "a, b and c do not answer; their part is missing here.");
    }
}
