//! Formulas in answers, in real Chromium: drawn where they are formulas, and text where they are prices.

#![allow(clippy::unwrap_used)]

use serde_json::json;
use testkit::{browser::Browser, yoi::YoiProcess};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

#[tokio::test]
async fn browser_formulas_are_drawn_and_prices_stay_text() {
    let yoi = YoiProcess::start(YOI).await;
    let pod = yoi.new_pod("ada").await;
    yoi.say(&pod, r"say It is $\frac{a_1}{2}$ and \(b\), not $5 and $10; $\nosuchcommand$ is wrong").await;
    yoi.say(&pod, r"say $$\sum_{i=1}^{n} i$$").await;
    let browser = Browser::open_pod(&yoi, &pod).await;
    browser.wait_script("return document.querySelectorAll('.says .formula math').length === 3").await;
    assert_eq!(browser.eval("return document.querySelectorAll('.says .formula mfrac').length").await, json!(1));
    assert_eq!(browser.eval("return document.querySelectorAll('.formula.is-display').length").await, json!(1));
    let says = browser.wait_text(".says", "not $5 and $10").await;
    assert!(says.contains(r"$\nosuchcommand$"), "{says}");
    let drawn = "const math = document.querySelector('.formula mfrac').getBoundingClientRect(); \
        return math.width > 0 && math.height > math.width";
    assert_eq!(browser.eval(drawn).await, json!(true));
    browser.no_errors().await;
    browser.quit().await;
}
