//! Passes MathML on, and nothing else: only named elements and attributes, whatever a library has written.

/// No links, no pictures, nothing that runs.
const ELEMENTS: [&str; 25] = [
    "math",
    "mrow",
    "mi",
    "mn",
    "mo",
    "ms",
    "mtext",
    "mspace",
    "mfrac",
    "msqrt",
    "mroot",
    "msub",
    "msup",
    "msubsup",
    "munder",
    "mover",
    "munderover",
    "mmultiscripts",
    "mprescripts",
    "mtable",
    "mtr",
    "mtd",
    "mstyle",
    "mpadded",
    "mphantom",
];

/// All others are left out.
const ATTRIBUTES: [&str; 24] = [
    "display",
    "displaystyle",
    "scriptlevel",
    "mathvariant",
    "stretchy",
    "symmetric",
    "fence",
    "separator",
    "form",
    "largeop",
    "movablelimits",
    "minsize",
    "maxsize",
    "lspace",
    "rspace",
    "accent",
    "accentunder",
    "linethickness",
    "width",
    "height",
    "depth",
    "voffset",
    "columnspan",
    "class",
];

/// Classes begin with one of these: they align the cells of a table.
const CLASSES: [&str; 2] = ["menv-", "cell-"];
const ENTITIES: [&str; 4] = ["&amp;", "&lt;", "&gt;", "&quot;"];
const DEPTH_MAX: usize = 256;

/// The same MathML with nothing unknown in it; `None` if there is an unknown element, or if it is no `math`.
pub(super) fn clean(mathml: &str) -> Option<String> {
    let (mut out, mut open) = (String::with_capacity(mathml.len()), Vec::new());
    let mut rest = mathml.trim();
    while !rest.is_empty() {
        let (text, tag) = rest.split_once('<').unwrap_or((rest, ""));
        if open.is_empty() && !text.trim().is_empty() {
            return None;
        }
        put_text(text, &mut out)?;
        if tag.is_empty() {
            break;
        }
        let (tag, after) = tag.split_once('>')?;
        put_tag(tag, &mut open, &mut out)?;
        rest = after;
    }
    (open.is_empty() && out.starts_with("<math") && out.matches("<math").count() == 1).then_some(out)
}

fn put_text(text: &str, out: &mut String) -> Option<()> {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '>']) {
        out.push_str(&rest[..at]);
        let here = &rest[at..];
        let entity = match here.strip_prefix('>') {
            Some(_) => ">",
            None => ENTITIES.into_iter().find(|entity| here.starts_with(entity))?,
        };
        out.push_str(if entity == ">" { "&gt;" } else { entity });
        rest = &here[entity.len()..];
    }
    out.push_str(rest);
    Some(())
}

fn put_tag<'a>(tag: &'a str, open: &mut Vec<&'a str>, out: &mut String) -> Option<()> {
    if let Some(name) = tag.strip_prefix('/') {
        let name = name.trim();
        (open.pop()? == name).then_some(())?;
        out.push_str(&format!("</{name}>"));
        return Some(());
    }
    let (tag, is_closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
    let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
    let is_root = name == "math";
    if !ELEMENTS.contains(&name) || is_root != open.is_empty() || open.len() >= DEPTH_MAX {
        return None;
    }
    out.push_str(&format!("<{name}"));
    put_attributes(attributes, out)?;
    out.push('>');
    match is_closed {
        true => out.push_str(&format!("</{name}>")),
        false => open.push(name),
    }
    Some(())
}

fn put_attributes(attributes: &str, out: &mut String) -> Option<()> {
    let mut rest = attributes.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"")?;
        let (value, after) = after.split_once('"')?;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-+% ".contains(letter);
        let value = if name == "class" { classes(value) } else { value.to_owned() };
        if ATTRIBUTES.contains(&name) && !value.is_empty() && value.chars().all(is_plain) {
            out.push_str(&format!(" {name}=\"{value}\""));
        }
        rest = after.trim_start();
    }
    Some(())
}

fn classes(value: &str) -> String {
    let known = value.split_whitespace().filter(|class| CLASSES.iter().any(|start| class.starts_with(start)));
    known.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_elements_pass_and_unknown_attributes_are_left_out() {
        let table = r#"<math xmlns="x" display="block"><mtable class="menv-cells-left evil"><mtr><mtd style="color:red" onclick="x">a</mtd></mtr></mtable></math>"#;
        let clean_table =
            r#"<math display="block"><mtable class="menv-cells-left"><mtr><mtd>a</mtd></mtr></mtable></math>"#;
        assert_eq!(clean(table).unwrap(), clean_table);
        assert_eq!(
            clean("<math><mo>></mo><mspace width=\"1em\" /></math>").unwrap(),
            "<math><mo>&gt;</mo><mspace width=\"1em\"></mspace></math>"
        );
        assert_eq!(clean("<math><mspace width=\"a(b)\"/></math>").unwrap(), "<math><mspace></mspace></math>");
    }

    #[test]
    fn anything_else_is_refused() {
        for bad in [
            "",
            "x",
            "<script>x</script>",
            "<math><script>x</script></math>",
            "<math><mi>a</math>",
            "<math><mi>a</mi>",
            "<math></math><math></math>",
            "<math></math>x",
            "<math><math></math></math>",
            "<math><a href=\"x\">a</a></math>",
            "<math><mtext>&nbsp;</mtext></math>",
            "<math><annotation-xml encoding=\"text/html\"></annotation-xml></math>",
            "<math><semantics></semantics></math>",
            "<math><mi mathvariant=normal>x</mi></math>",
            "<math><!-- x --></math>",
            "<MATH></MATH>",
        ] {
            assert_eq!(clean(bad), None, "{bad}");
        }
    }
}
