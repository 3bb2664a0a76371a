//! The pictures that documents show one by one: the board, a Pod at work, a review, a phone, the map, a terminal.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use testkit::{browser::Browser, terminal::Terminal};
use thirtyfour::Key;

use crate::{
    fill::Cast,
    scenes::{SETTLES, page, path},
    screen,
};

const DESK: (u32, u32) = (1440, 900);
/// The board with its rows needs more, the map less.
const BOARD_HEIGHT: u32 = 1180;
const MAP_HEIGHT: u32 = 560;
const PHONE: (u32, u32) = (360, 780);
/// Columns and rows of the terminal.
const TERMINAL: (u16, u16) = (128, 36);

/// Takes them all into this folder.
pub(crate) async fn take(cast: &Cast, folder: &Path) -> Result<()> {
    let desk = open(cast, (DESK.0, BOARD_HEIGHT)).await;
    save(&desk, folder, "board").await?;
    desk.emulate_dark(true).await;
    save(&desk, folder, "board-dark").await?;
    desk.emulate_dark(false).await;
    page(cast, &desk, "/map").await;
    desk.set_viewport(DESK.0, MAP_HEIGHT).await;
    save(&desk, folder, "map").await?;
    desk.set_viewport(DESK.0, DESK.1).await;
    page(cast, &desk, &path(&cast.refunds)).await;
    desk.wait_text("main article[data-question]", "round.ts").await;
    desk.wait_text("main .review-button", "Review").await;
    save(&desk, folder, "pod").await?;
    review(cast, &desk).await;
    save(&desk, folder, "review").await?;
    desk.quit().await;

    let phone = open(cast, PHONE).await;
    let metrics = json!({ "width": PHONE.0, "height": PHONE.1, "deviceScaleFactor": 2, "mobile": false });
    phone.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
    phone.devtools("Emulation.setScrollbarsHidden", json!({ "hidden": true })).await;
    phone.emulate_touch().await;
    page(cast, &phone, "/approvals").await;
    phone.wait_text("main article[data-question]", "round.ts").await;
    let answers = "document.querySelector('main article[data-question] .answers').scrollIntoView({ block: 'end' }); \
                   return true";
    phone.wait_script(answers).await;
    save(&phone, folder, "phone").await?;
    phone.quit().await;
    terminal(cast, folder).await
}

/// A logged-in browser on the board.
async fn open(cast: &Cast, (width, height): (u32, u32)) -> Browser {
    let browser = Browser::start(width, height).await;
    live_there(&browser).await;
    browser.goto(&cast.yoi.login_url()).await;
    browser.wait_live().await;
    browser
}

/// Makes a browser tell the time as the server does.
pub(crate) async fn live_there(browser: &Browser) {
    browser.devtools("Emulation.setTimezoneOverride", json!({ "timezoneId": "UTC" })).await;
}

/// Two comments on the changes of refunds: one finished, one being written.
async fn review(cast: &Cast, desk: &Browser) {
    page(cast, desk, &format!("{}/changes", path(&cast.refunds))).await;
    desk.wait_text(".changes-files", "shareOut").await;
    comment(desk, "const shares", "Call it `refunded`? `paidBack` reads like a yes or no.").await;
    desk.chord(Key::Control, Key::Enter).await;
    desk.wait_text(".changes-side h2", "1").await;
    comment(desk, "return shareOut", "An order of free lines has a total of 0: return early, and add a test for it.")
        .await;
    let top = "document.querySelector('main.changes').scrollTop = 0; return true";
    desk.wait_script(top).await;
}

/// Begins a comment on the added line that has these words.
async fn comment(desk: &Browser, words: &str, text: &str) {
    let begin = format!(
        "const line = [...document.querySelectorAll('.code-line.is-added')].find(line => line.innerText.includes({})); \
         line.querySelector('button').click(); return true",
        Value::from(words)
    );
    desk.wait_script(&begin).await;
    desk.wait_focus("comment").await;
    desk.keys(text).await;
}

async fn terminal(cast: &Cast, folder: &Path) -> Result<()> {
    let launch = cast.yoi.launch();
    let mut command = launch.command();
    command.arg("tui").args(["--server", cast.yoi.base_url()]).arg("--data").arg(launch.data_dir());
    let mut terminal = Terminal::start(&command, TERMINAL.0, TERMINAL.1).await;
    terminal.wait_text("refunds").await;
    terminal.enters(":open refunds").await;
    terminal.wait_text("nothing in src/refunds needs it").await;
    tokio::time::sleep(SETTLES).await;
    let file = folder.join("terminal.png");
    screen::save(&terminal.raw(), TERMINAL, &file).await?;
    told(&file)
}

async fn save(browser: &Browser, folder: &Path, name: &str) -> Result<()> {
    tokio::time::sleep(SETTLES).await;
    let file = folder.join(format!("{name}.png"));
    browser.screenshot(&file).await;
    told(&file)
}

fn told(file: &Path) -> Result<()> {
    println!("    {}: {:.0} kB", file.display(), std::fs::metadata(file)?.len() as f64 / 1e3);
    Ok(())
}
