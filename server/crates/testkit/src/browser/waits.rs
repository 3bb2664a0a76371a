//! Finding elements by what a person sees, and waiting for them.

use std::time::Duration;

use thirtyfour::{By, WebElement, error::WebDriverResult};
use tokio::time::{Instant, sleep};

use super::Page;
use crate::wait::WAIT_MAX;

/// How often a condition is checked.
const POLL: Duration = Duration::from_millis(50);

impl Page {
    /// The first visible element that matches the CSS selector.
    pub async fn find(&self, css: &str) -> WebElement {
        self.shown(By::Css(css), css).await
    }

    /// A button by its name.
    pub async fn button(&self, name: &str) -> WebElement {
        self.shown(By::XPath(button_xpath(name)), &format!("button {name:?}")).await
    }

    /// A link by its text.
    pub async fn link(&self, name: &str) -> WebElement {
        self.shown(By::XPath(link_xpath(name)), &format!("link {name:?}")).await
    }

    /// Clicks the first visible element that matches the CSS selector.
    pub async fn press(&self, css: &str) {
        self.pressed(&By::Css(css), css).await;
    }

    /// Clicks a button, found by its name.
    pub async fn press_button(&self, name: &str) {
        self.pressed(&By::XPath(button_xpath(name)), &format!("button {name:?}")).await;
    }

    /// Clicks a link, found by its text.
    pub async fn press_link(&self, name: &str) {
        self.pressed(&By::XPath(link_xpath(name)), &format!("link {name:?}")).await;
    }

    /// A text field by its label.
    pub async fn field(&self, label: &str) -> WebElement {
        self.shown(By::XPath(field_xpath(label)), &format!("field {label:?}")).await
    }

    /// Whether no visible element matches the selector.
    pub async fn is_absent(&self, css: &str) -> bool {
        first_shown(self, By::Css(css)).await.is_ok_and(|element| element.is_none())
    }

    /// Waits until some element that matches the selector contains the text, and returns its text.
    pub async fn wait_text(&self, css: &str, text: &str) -> String {
        let found = self.looked(async |page| page.texts(css).await.into_iter().find(|one| one.contains(text))).await;
        match found {
            Some(found) => found,
            None => {
                let last = self.texts(css).await;
                panic!("no {css} contained {text:?} within {WAIT_MAX:?}; now they are {last:#?}{}", self.at_end().await)
            }
        }
    }

    /// The visible texts of all elements that match the selector; one that has just disappeared is left out.
    pub async fn texts(&self, css: &str) -> Vec<String> {
        let mut texts = Vec::new();
        for element in self.driver.find_all(By::Css(css)).await.unwrap_or_default() {
            texts.extend(element.text().await);
        }
        texts
    }

    /// Waits until the condition holds. `what` completes "waited for …" in the failure message.
    pub async fn wait_until(&self, what: &str, mut condition: impl AsyncFnMut(&Self) -> bool) {
        if self.looked(async |page| condition(page).await.then_some(())).await.is_none() {
            panic!("waited {WAIT_MAX:?} for {what}{}", self.at_end().await)
        }
    }

    /// Waits until a script's result is true. `script` is a body: `return document.title == "x"`.
    pub async fn wait_script(&self, script: &str) {
        self.wait_until(script, async |page| {
            let result = page.driver.execute(script, Vec::new()).await;
            result.is_ok_and(|value| value.json().as_bool() == Some(true))
        })
        .await;
    }

    async fn shown(&self, by: By, what: &str) -> WebElement {
        match self.looked(async |page| first_shown(page, by.clone()).await.ok().flatten()).await {
            Some(element) => element,
            None => panic!("no {what} was shown within {WAIT_MAX:?}{}", self.at_end().await),
        }
    }

    /// Finds and clicks, and does both again if the page has been drawn anew in between: then nothing was clicked.
    async fn pressed(&self, by: &By, what: &str) {
        let mut last = None;
        let pressed = self.looked(async |page| {
            let element = first_shown(page, by.clone()).await.ok().flatten()?;
            element.click().await.map_err(|error| last = Some(error)).ok()
        });
        if pressed.await.is_none() {
            panic!("no {what} could be clicked within {WAIT_MAX:?} ({last:?}){}", self.at_end().await)
        }
    }

    /// Checks repeatedly, up to the time limit of any wait.
    async fn looked<T>(&self, mut look: impl AsyncFnMut(&Self) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + WAIT_MAX;
        while Instant::now() < deadline {
            if let Some(found) = look(self).await {
                return Some(found);
            }
            sleep(POLL).await;
        }
        None
    }

    /// Details for a failed wait: the address, the text of the page, and the console.
    async fn at_end(&self) -> String {
        let url = self.driver.current_url().await.map(|url| url.to_string()).unwrap_or_default();
        let page = self.texts("body").await.join("\n");
        let errors = self.driver.browser_log().await.unwrap_or_default();
        let errors: Vec<String> =
            errors.into_iter().map(|entry| format!("{}: {}", entry.level, entry.message)).collect();
        format!("\n--- {url}\n{page}\n--- console\n{}", errors.join("\n"))
    }
}

/// An element that disappears while it is checked counts as not visible.
async fn first_shown(page: &Page, by: By) -> WebDriverResult<Option<WebElement>> {
    for element in page.driver.find_all(by).await? {
        if element.is_displayed().await.unwrap_or(false) {
            return Ok(Some(element));
        }
    }
    Ok(None)
}

fn button_xpath(name: &str) -> String {
    let named = named(name);
    format!("//button[{named}] | //*[@role='button'][{named}] | //input[@type='submit'][@value={}]", literal(name))
}

fn link_xpath(name: &str) -> String {
    format!("//a[@href][{}]", named(name))
}

fn field_xpath(label: &str) -> String {
    let text = literal(label);
    let field = "self::input or self::textarea or self::select or @role='textbox'";
    format!(
        "//*[{field}][@aria-label={text} or @id=//label[normalize-space(.)={text}]/@for \
         or ancestor::label[normalize-space(text()[1])={text} or normalize-space(.)={text} or *[normalize-space(.)={text}]] \
         or @aria-labelledby=//*[normalize-space(.)={text}]/@id]"
    )
}

/// Matches the accessible name in the ways in which our pages give it; a key beside it is not part of the name.
fn named(name: &str) -> String {
    let text = literal(name);
    format!(
        "@aria-label={text} or (not(@aria-label) and normalize-space(.)={text}) or @title={text} \
         or (kbd and normalize-space(text()[normalize-space()][1])={text})"
    )
}

/// A text as an XPath literal. XPath has no escapes, so a text with both kinds of quotes has to be concatenated.
fn literal(text: &str) -> String {
    if !text.contains('\'') {
        return format!("'{text}'");
    }
    let parts: Vec<String> = text.split('\'').map(|part| format!("'{part}'")).collect();
    format!("concat({})", parts.join(", \"'\", "))
}
