//! The page as a screen reader and a keyboard see it.

use std::time::{Duration, Instant};

use cb_runtime::{Config, Window};
use cb_tests::harness::{fail, succeed};
use serde_json::{Value, json};

use crate::chromium::Page;
use crate::served::{Served, state, tile};

/// The nodes of the accessibility tree that are not ignored: role and name.
fn nodes(page: &Page) -> Vec<(String, String)> {
    page.send("Accessibility.enable", json!({}));
    let tree = page.send("Accessibility.getFullAXTree", json!({}));
    let text = |value: &Value| value["value"].as_str().unwrap_or_default().to_owned();
    tree["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .filter(|node| node["ignored"] == false)
        .map(|node| (text(&node["role"]), text(&node["name"])))
        .collect()
}

#[test]
fn everything_has_a_role_and_a_name() {
    let served = Served::start(|admin| admin.authorise(|_| true));
    let stock = served.breaker("stock");
    succeed(&stock, 2);
    fail(&stock, 1);
    fail(&served.breaker("prices"), 4);
    let page = Page::open(&served.page());
    page.choose("stock");
    page.wait("document.querySelectorAll('#detail .explanation li').length > 0");
    let nodes = nodes(&page);
    let named = |role: &str, name: &str| {
        assert!(
            nodes.contains(&(role.into(), name.into())),
            "{role} {name:?}: {nodes:#?}"
        );
    };
    named("heading", "Circuit breakers");
    named("searchbox", "Filter by name");
    named("button", "stock");
    named("button", "OPEN 1");
    named("button", "Close the details");
    named("button", "Force open");
    named("complementary", "stock");
    named("image", "Of 3 calls: 2 ok, 1 failed. Opens at 50 % failed.");
    for (role, name) in &nodes {
        let must_have_one = ["button", "image", "searchbox", "heading", "link", "region"];
        assert!(
            !must_have_one.contains(&role.as_str()) || !name.is_empty(),
            "{role} without a name"
        );
    }
    page.assert_no_complaints();
}

#[test]
fn the_keyboard_reaches_everything_and_the_focus_comes_back() {
    let served = Served::start(|admin| admin.authorise(|_| true));
    served.breaker("prices");
    served.breaker("stock");
    let page = Page::open(&served.page());
    page.wait("document.querySelectorAll('.tile').length === 2");
    let focused = || page.text("document.activeElement.textContent || document.activeElement.id");
    let mut seen = Vec::new();
    for _ in 0..9 {
        page.press("Tab");
        seen.push(focused());
    }
    assert_eq!(seen[0], "Skip to the breakers");
    assert!(seen.contains(&"filter".to_owned()), "{seen:?}");
    // One stop for the whole list, then by arrows.
    assert_eq!(seen.last().map(String::as_str), Some("prices"), "{seen:?}");
    page.press("ArrowRight");
    assert_eq!(focused(), "stock");
    page.press("Enter");
    page.wait("document.activeElement.id === 'detail-name'");
    page.press("Tab");
    assert_eq!(focused(), "✕");
    page.press("Tab");
    assert_eq!(focused(), "Force open");
    page.press("Enter");
    page.wait(
        "document.querySelector('dialog').open && document.activeElement.textContent === 'Cancel'",
    );
    page.press("Tab");
    page.press("Enter");
    page.wait("document.querySelector('#detail .state').textContent === 'FORCED_OPEN'");
    page.press("Escape");
    page.wait("document.getElementById('detail').hidden");
    assert_eq!(focused(), "stock");
    page.assert_no_complaints();
}

#[test]
fn probes_and_slow_calls_are_shown_for_what_they_are() {
    let served = Served::start(|admin| admin);
    let stock = served.breaker("stock");
    fail(&stock, 4);
    stock.half_open().expect("from OPEN");
    let running = stock.try_acquire().expect("a probe");
    succeed(&stock, 1);

    let config = Config::new()
        .window(Window::Calls(10))
        .slow(Duration::from_millis(1));
    let prices = served.registry.create("prices", &config).expect("valid");
    succeed(&prices, 2);
    fail(&prices, 1);
    let began = Instant::now();
    let slow = prices.try_acquire().expect("it is closed");
    while began.elapsed() <= Duration::from_millis(1) {
        std::thread::yield_now();
    }
    slow.success();

    let page = Page::open(&served.page());
    let label =
        |name: &str, inside: &str| format!("{}?.getAttribute('aria-label')", tile(name, inside));
    page.wait(&format!(
        "{} === 'Of 3 probes 1 returned (0 failed), 1 under way.'",
        label("stock", ".slots")
    ));
    page.wait(&format!(
        "/^1 of 3, ends in /.test({}.textContent)",
        tile("stock", ".next .words")
    ));
    page.wait(&format!(
        "{}?.startsWith('Of 4 calls: 2 ok, 1 slow, 1 failed.')",
        label("prices", ".window")
    ));
    page.choose("stock");
    page.screenshot("half-open");
    running.success();
    page.wait(&format!(
        "{} === 'Of 3 probes 2 returned (0 failed), 0 under way.'",
        label("stock", ".slots")
    ));
    succeed(&stock, 1);
    page.wait(&format!("{} === 'CLOSED'", state("stock")));
    page.assert_no_complaints();
}
