//! Fuzz target (docs/testing.md): any text of a server is a template or none, and what it proposes fits itself.

use testkit::fuzz::{Choices, corpus};

use super::Template;

const PIECES: &[&str] = &[
    "file://", "/", "{", "}", "{a}", "{+path}", "{/b}", "{?q,r}", "{a*}", "{a:3}", "a", "é", "%2F", "%", "%zz", " ",
    "?", "&", "=", "{{", "x-",
];

fn any_template(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let (made, typed) = (choices.text(PIECES, 8), choices.text(PIECES, 8));
    let raw = String::from_utf8_lossy(bytes);
    for text in [made.as_str(), &raw] {
        let Some(template) = Template::parse(text) else { continue };
        assert!(text.starts_with(template.beginning()));
        for typed in [typed.as_str(), text, template.beginning(), &format!("{}{typed}", template.beginning())] {
            let Some(typed) = template.typed(typed) else { continue };
            // What is offered next is the beginning of an address, too.
            if let Some(next) = &typed.next {
                assert!(template.typed(next).is_some(), "{text:?} proposes {next:?}");
            }
            if let Some(open) = &typed.open {
                let _ = open.filled("a/b c%é");
            }
        }
    }
}

#[test]
fn a_template_proposes_only_what_fits_it() {
    corpus(env!("CARGO_MANIFEST_DIR"), "templates", any_template);
    bolero::check!().with_iterations(20_000).with_max_len(64).for_each(any_template);
}
