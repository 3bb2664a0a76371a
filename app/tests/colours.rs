//! The contrast of code colours is sufficient, computed from the numbers in the style sheet.

#![allow(clippy::unwrap_used)]

const TOKENS: &str = include_str!("../../style/tokens.css");
const CODE: &str = include_str!("../../style/components/code.css");

/// The backgrounds of code.
const GROUNDS: [&str; 2] = ["--sunk", "--raised"];

/// AA for text of this size.
const CONTRAST_LEAST: f64 = 4.5;

/// The values of a colour in the light and in the dark theme.
fn both(name: &str) -> [[f64; 3]; 2] {
    let line = TOKENS.lines().find(|line| line.trim().starts_with(&format!("{name}:"))).unwrap();
    let mut colours = line.split("oklch(").skip(1).map(|rest| {
        let numbers: Vec<f64> =
            rest.split(')').next().unwrap().split_whitespace().map(|number| number.parse().unwrap()).collect();
        <[f64; 3]>::try_from(numbers).unwrap()
    });
    [colours.next().unwrap(), colours.next().unwrap()]
}

/// Relative luminance, via linear sRGB clipped to its gamut.
fn luminance([light, chroma, hue]: [f64; 3]) -> f64 {
    let (a, b) = (chroma * hue.to_radians().cos(), chroma * hue.to_radians().sin());
    let l = (light + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (light - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (light - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
    let red = 4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s;
    let green = -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s;
    let blue = -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701_0 * s;
    [(red, 0.2126), (green, 0.7152), (blue, 0.0722)].map(|(part, weight)| part.clamp(0.0, 1.0) * weight).iter().sum()
}

fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
    one.max(other) / one.min(other)
}

#[test]
fn black_on_white_is_twenty_one() {
    assert!((contrast([0.0, 0.0, 0.0], [1.0, 0.0, 0.0]) - 21.0).abs() < 0.01);
}

#[test]
fn every_kind_of_code_can_be_read_in_both_themes() {
    for class in app::server_fns::KINDS.into_iter().filter(|class| !class.is_empty()) {
        assert!(CODE.contains(&format!("var(--{class})")), "{class}");
        for ground in GROUNDS {
            for (theme, (text, ground_colour)) in
                ["light", "dark"].into_iter().zip(both(&format!("--{class}")).into_iter().zip(both(ground)))
            {
                let contrast = contrast(text, ground_colour);
                assert!(contrast >= CONTRAST_LEAST, "{class} on {ground}, {theme}: {contrast:.2}");
            }
        }
    }
}
