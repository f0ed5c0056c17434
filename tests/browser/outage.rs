//! A real outage, live.

use crate::chromium::Page;
use crate::program::Dashboard;
use crate::served::{state, tile};

#[test]
fn the_states_of_a_real_outage_are_seen_one_after_the_other() {
    let program = Dashboard::start(&["--quiet", "3"]);
    let page = Page::open(&program.address);
    page.wait("document.getElementById('connection').dataset.is === 'live'");
    let state = state("inventory.query");
    page.wait(&format!("{state} === 'CLOSED'"));
    // Every change from here on, as the page shows it.
    page.value(&format!(
        "window.seen = [];
         new MutationObserver(() => {{
           const now = {state};
           if (now && now !== window.seen.at(-1)) window.seen.push(now);
         }}).observe(document.getElementById('list'), {{subtree: true, childList: true, characterData: true}});"
    ));
    page.wait("window.seen.includes('OPEN')");
    page.wait(&format!(
        "/next probe in [\\d.]+ m?s/.test({}?.textContent)",
        tile("inventory.query", ".next .words")
    ));
    page.choose("inventory.query");
    page.wait(
        "/^It opened because \\d+ /.test(document.querySelector('#detail .why')?.textContent)",
    );
    page.screenshot("outage-open");
    page.wait(
        "(() => { const s = window.seen.join(); return s.includes('OPEN,HALF_OPEN,CLOSED'); })()",
    );
    let seen = page.text("window.seen.join()");
    let before = seen.split(",OPEN").next();
    assert!(
        seen.starts_with("OPEN") || before == Some("CLOSED"),
        "{seen}"
    );
    page.wait("/CLOSED to OPEN: /.test(document.querySelector('#detail .happened').textContent)");
    page.wait(
        "/HALF_OPEN to CLOSED: /.test(document.querySelector('#detail .happened').textContent)",
    );
    // Screen readers were told, too.
    page.wait(
        "/inventory\\.query is OPEN/.test(document.getElementById('announcements').textContent)",
    );
    page.wait("document.querySelectorAll('#detail .strip i').length > 20");
    page.wait("document.querySelectorAll('#detail .timeline [data-state=\"OPEN\"]').length > 0");
    page.screenshot("outage-light");
    page.scheme("dark");
    page.screenshot("outage-dark");
    page.press("Escape");
    page.screenshot("tiles-dark");
    page.scheme("light");
    page.screenshot("tiles-light");
    page.size(390, 844);
    page.wait("document.documentElement.scrollWidth <= 390");
    page.screenshot("narrow");
    page.choose("inventory.query");
    page.wait("document.documentElement.scrollWidth <= 390");
    page.wait("document.querySelectorAll('#detail .explanation li').length > 0");
    page.screenshot("narrow-detail");
    page.assert_no_complaints();
}

#[test]
fn the_page_forces_a_breaker_of_the_program_open_only_if_it_may() {
    for (args, may) in [
        (&["--authoriser", "allow"][..], true),
        (&["--authoriser", "deny"], false),
    ] {
        let program = Dashboard::start(args);
        let page = Page::open(&program.address);
        page.choose("reports.export");
        page.click("#detail [data-operation='force_open']");
        page.click("#confirm-yes");
        if may {
            page.wait(&format!("{} === 'FORCED_OPEN'", state("reports.export")));
            page.wait("document.querySelector('#detail .outcome').textContent === 'Done: it is FORCED_OPEN.'");
            page.assert_no_complaints();
        } else {
            page.wait(
                "/^Refused \\(403\\)/.test(document.querySelector('#detail .outcome').textContent)",
            );
            assert_eq!(page.text(&state("reports.export")), "CLOSED");
        }
    }
    let program = Dashboard::start(&[]);
    let page = Page::open(&program.address);
    page.choose("reports.export");
    page.wait("document.querySelectorAll('#detail .explanation li').length > 0");
    assert_eq!(
        page.number("document.querySelectorAll('[data-operation]').length"),
        0.0
    );
    page.assert_no_complaints();
    let status = page.number(
        "fetch('breakers/reports.export/force_open', {method: 'POST', headers: {'x-circuit-breaker-admin': '1'}})
           .then((answer) => answer.status)",
    );
    assert_eq!(status, 404.0);
    assert_eq!(page.text(&state("reports.export")), "CLOSED");
}
