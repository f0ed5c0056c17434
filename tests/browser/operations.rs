//! Operations by hand through the page.

use cb_runtime::{Config, State};
use cb_tests::harness::fail;

use crate::chromium::Page;
use crate::served::{Served, state, tile};

#[test]
fn each_operation_does_what_its_button_says() {
    let served = Served::start(|admin| admin.authorise(|_| true));
    let stock = served.breaker("stock");
    let page = Page::open(&served.page());
    page.choose("stock");
    let shows = |state_: &str| {
        page.wait(&format!("{} === '{state_}'", state("stock")));
        page.wait(&format!(
            "document.querySelector('#detail .state').textContent === '{state_}'"
        ));
    };
    let button = |operation: &str| format!("#detail [data-operation='{operation}']");

    // Cancelled: nothing happens.
    page.click(&button("force_open"));
    page.wait("document.querySelector('dialog').open");
    page.press("Escape");
    page.wait("!document.querySelector('dialog').open");
    page.click(&button("force_open"));
    page.wait("document.querySelector('dialog').open");
    // The focus is on the way back.
    page.press("Enter");
    page.wait("!document.querySelector('dialog').open");
    assert_eq!(stock.state(), State::Closed);
    assert_eq!(stock.snapshot().generation, 1);

    for (operation, asks, then) in [
        ("force_open", true, "FORCED_OPEN"),
        ("close", false, "CLOSED"),
        ("disable", true, "DISABLED"),
        ("enable", false, "CLOSED"),
        ("metrics_only", true, "METRICS_ONLY"),
        ("reset", false, "CLOSED"),
    ] {
        page.click(&button(operation));
        if asks {
            page.click("#confirm-yes");
        }
        shows(then);
        assert_eq!(stock.state().as_str(), then);
    }
    page.screenshot("operations");
    page.assert_no_complaints();
}

#[test]
fn a_refusal_is_told_and_changes_nothing() {
    let served = Served::start(|admin| admin.authorise(|_| false));
    let stock = served.breaker("stock");
    fail(&stock, 4);
    let page = Page::open(&served.page());
    page.choose("stock");
    page.click("#detail [data-operation='reset']");
    page.wait("document.querySelector('#detail .outcome').textContent === 'Refused (403): you may not do this.'");
    page.screenshot("refused");
    assert_eq!(stock.state(), State::Open);
    assert_eq!(page.text(&state("stock")), "OPEN");
}

#[test]
fn a_new_state_never_stands_beside_the_figures_of_the_one_before() {
    let served = Served::start(|admin| admin);
    let stock = served.breaker("stock");
    let page = Page::open(&served.page());
    page.wait(&format!("{} === 'CLOSED'", state("stock")));
    page.value(&format!(
        "window.pairs = new Set();
         new MutationObserver(() => window.pairs.add({} + ': ' + {}?.textContent))
           .observe(document.getElementById('list'), {{subtree: true, childList: true, characterData: true}});",
        state("stock"),
        tile("stock", ".rate")
    ));
    for _ in 0..3 {
        fail(&stock, 4);
        page.wait(&format!("{} === 'OPEN'", state("stock")));
        stock.close();
        page.wait(&format!("{} === 'CLOSED'", state("stock")));
    }
    page.wait("window.pairs.size > 1");
    let pairs = page.text("[...window.pairs].sort().join('; ')");
    assert_eq!(pairs, "CLOSED: 0 of 4 calls to judge; OPEN: 100 % failed");
}

#[test]
fn conflicts_are_told() {
    let served = Served::start(|admin| admin);
    served.breaker("stock");
    let page = Page::open(&served.page());
    page.wait("document.getElementById('connection').dataset.is === 'live'");
    assert_eq!(
        page.value("document.getElementById('conflicts').hidden"),
        true
    );
    let _ = served.registry.create("stock", &Config::new());
    page.wait("document.querySelector('#conflicts summary').textContent === '1 conflict'");
    page.click("#conflicts summary");
    page.wait("/stock.*exists already/.test(document.querySelector('#conflicts li').textContent)");
    page.screenshot("conflicts");
    page.assert_no_complaints();
}

#[test]
fn the_page_comes_back_when_the_server_does() {
    let served = Served::start(|admin| admin);
    let stock = served.breaker("stock");
    let page = Page::open(&served.page());
    page.wait(&format!("{} === 'CLOSED'", state("stock")));
    let (port, registry) = (served.port(), served.registry.clone());
    drop(served);
    page.wait("document.getElementById('connection').dataset.is === 'lost'");
    page.screenshot("lost");
    stock.force_open();
    let served = Served::at(port, registry, |admin| admin);
    page.wait("document.getElementById('connection').dataset.is === 'live'");
    page.wait(&format!("{} === 'FORCED_OPEN'", state("stock")));
    stock.close();
    page.wait(&format!("{} === 'CLOSED'", state("stock")));
    drop(served);
}
