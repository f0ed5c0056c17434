//! A thousand breakers.

use cb_tests::harness::{fail, succeed};

use crate::chromium::Page;
use crate::served::{Served, state};

#[test]
fn a_thousand_breakers_can_be_used() {
    let served = Served::start(|admin| admin);
    let breakers: Vec<_> = (0..1000)
        .map(|number| served.breaker(&format!("shard.read[{number:04}]")))
        .collect();
    for (number, breaker) in breakers.iter().enumerate() {
        succeed(breaker, number % 17);
        fail(breaker, if number % 100 == 42 { 30 } else { number % 4 });
    }
    let page = Page::open(&served.page());
    page.size(1280, 900);
    page.wait("/^\\s*CLOSED \\d+$/.test(document.querySelector('#states [data-state=CLOSED]').textContent)");
    page.wait("document.querySelectorAll('.tile').length > 0");
    let open = served
        .registry
        .breakers()
        .iter()
        .filter(|one| one.state() == cb_runtime::State::Open)
        .count();
    assert!(open >= 10);
    page.wait(&format!(
        "document.querySelector('#states [data-state=OPEN] b').textContent === '{open}'"
    ));

    // Only what is in sight is there, with its place among all.
    let tiles = page.number("document.querySelectorAll('.tile').length");
    assert!(tiles < 60.0, "{tiles}");
    page.wait("document.querySelector('.tile').getAttribute('aria-setsize') === '1000'");
    // The worst comes first.
    assert_eq!(
        page.text("document.querySelector('.tile').dataset.state"),
        "OPEN"
    );
    page.screenshot("thousand");

    // By the keyboard: to the list, to its end and back.
    page.value("document.querySelector('.tile [tabindex=\"0\"]').focus()");
    page.press("End");
    page.wait("document.activeElement.closest('.tile')?.getAttribute('aria-posinset') === '1000'");
    page.screenshot("thousand-end");
    assert!(page.number("document.querySelectorAll('.tile').length") < 60.0);
    page.press("Home");
    page.wait("document.activeElement.closest('.tile')?.getAttribute('aria-posinset') === '1'");
    page.press("ArrowRight");
    page.wait("document.activeElement.closest('.tile')?.getAttribute('aria-posinset') === '2'");
    page.press("PageDown");
    page.wait("Number(document.activeElement.closest('.tile')?.getAttribute('aria-posinset')) > 8");
    // What is focused is in sight.
    assert_eq!(
        page.value(
            "(() => { const tile = document.activeElement.getBoundingClientRect();
               const list = document.getElementById('scroller').getBoundingClientRect();
               return tile.top >= list.top && tile.bottom <= list.bottom; })()"
        ),
        true
    );

    // By name.
    page.value("document.getElementById('filter').focus()");
    page.write("[0777]");
    page.wait("document.querySelectorAll('.tile').length === 1");
    assert_eq!(
        page.text("document.querySelector('.tile').dataset.name"),
        "shard.read[0777]"
    );
    breakers[777].force_open();
    page.wait(&format!("{} === 'FORCED_OPEN'", state("shard.read[0777]")));
    page.value("(() => { const f = document.getElementById('filter'); f.value = ''; f.dispatchEvent(new Event('input')); })()");

    // By state.
    page.click("#states [data-state=OPEN]");
    page.wait(&format!(
        "document.querySelector('.tile').getAttribute('aria-setsize') === '{open}'"
    ));
    assert_eq!(
        page.number("document.querySelectorAll('.tile:not([data-state=OPEN])').length"),
        0.0
    );
    page.click("#states [data-state=OPEN]");
    page.wait("document.querySelector('.tile').getAttribute('aria-setsize') === '1000'");

    // Figures of all of them at once.
    breakers.iter().for_each(|breaker| succeed(breaker, 1));
    breakers[0].force_open();
    page.wait("document.querySelector('#states [data-state=FORCED_OPEN] b').textContent === '2'");
    page.click("#states [data-state=FORCED_OPEN]");
    page.wait(&format!("{} === 'FORCED_OPEN'", state("shard.read[0000]")));
    page.assert_no_complaints();
}
