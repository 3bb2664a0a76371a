//! The driver itself, against a page of a few lines.

use axum::{Router, response::Html, routing::get};

use super::{Browser, driver::ChromeDriver};
use crate::helper::tests::stand_in;

const PAGE: &str = r#"<!doctype html><html lang="en"><head><title>Small page</title><link rel="icon" href="data:,">
<style>body { color: black } @media (prefers-color-scheme: dark) { body { color: white } }</style></head>
<body><main><p id="greeting">plain</p>
<label for="name">Name</label><input id="name"><button>Greet it's "you"</button></main>
<script>
document.title = "Live page";
document.querySelector("button").addEventListener("click", () => setTimeout(() => {
  document.getElementById("greeting").textContent = "Hello, " + document.getElementById("name").value;
  console.error("greeted");
}, 200));
</script></body></html>"#;

async fn page_address() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/", get(async || Html(PAGE)));
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/")
}

#[tokio::test]
async fn browser_finds_by_name_waits_for_text_and_reports_the_console() {
    let address = page_address().await;
    let browser = Browser::start(360, 640).await;
    browser.goto(&address).await;
    assert_eq!(browser.eval("return [innerWidth, innerHeight]").await, serde_json::json!([360, 640]));
    assert_eq!(browser.driver.title().await.unwrap(), "Live page");
    assert_eq!(browser.console_errors().await, Vec::<String>::new());

    browser.field("Name").await.send_keys("Pod").await.unwrap();
    browser.press_button("Greet it's \"you\"").await;
    assert_eq!(browser.wait_text("#greeting", "Hello").await, "Hello, Pod");
    let errors = browser.console_errors().await;
    assert!(matches!(errors.as_slice(), [only] if only.contains("greeted")), "{errors:?}");

    browser.emulate_dark(true).await;
    browser.wait_script("return getComputedStyle(document.body).color == 'rgb(255, 255, 255)'").await;
    browser.set_viewport(1440, 900).await;
    assert_eq!(browser.eval("return innerWidth").await, 1440);

    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("page.png");
    browser.screenshot(&picture).await;
    assert_eq!(&std::fs::read(picture).unwrap()[1..4], b"PNG");
    browser.quit().await;
}

#[tokio::test]
async fn a_driver_that_ends_is_told_with_its_reason_and_one_that_lost_its_port_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let ends = stand_in(folder.path(), "ends", "echo 'Unable to initialize logging. Exiting...'; exit 1");
    let said = ChromeDriver::start_as(&ends).await.unwrap_err().to_string();
    assert!(said.contains("(exit status: 1)") && said.contains("Unable to initialize logging"), "{said}");

    let once = folder.path().join("once");
    let body = format!(
        "[ -e {0} ] || {{ touch {0}; echo 'IPv4 port not available. Exiting...'; exit 1; }}\n\
         echo 'ChromeDriver was started successfully on port 4711.'; while :; do sleep 0.05; done",
        once.display()
    );
    let driver = ChromeDriver::start_as(&stand_in(folder.path(), "loses", &body)).await.unwrap();
    assert_eq!(driver.url(), "http://127.0.0.1:4711");
}

#[tokio::test]
async fn browser_without_javascript_shows_what_the_server_sent() {
    let address = page_address().await;
    let browser = Browser::start_without_javascript(800, 600).await;
    browser.goto(&address).await;
    browser.wait_text("#greeting", "plain").await;
    assert_eq!(browser.driver.title().await.unwrap(), "Small page");
}

#[tokio::test]
async fn browser_leaves_no_process_behind() {
    let browser = Browser::start(800, 600).await;
    let profile = browser._profile.path().to_owned();
    assert_ne!(super::driver::pids_naming(&profile), Vec::<String>::new());
    drop(browser);
    assert_eq!(super::driver::pids_naming(&profile), Vec::<String>::new());
    assert!(!profile.exists());
}
