//! How the page is served. What it does is tested in a browser.

use crate::http::get;
use crate::served::Served;

#[test]
fn the_page_and_all_its_files_come_from_the_router_and_nothing_else_may() {
    let served = Served::read_only();
    let page = served.get("/dashboard");
    assert_eq!(page.status, 200);
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    assert!(
        !policy.contains("unsafe") && !policy.contains("http"),
        "{policy}"
    );
    // No code and no style in the markup, no other address.
    for forbidden in [
        "<style", "style=", "onclick", "onload", "http:", "https:", "//",
    ] {
        assert!(!page.body.contains(forbidden), "{forbidden}");
    }
    assert!(!page.body.contains("<script>"));
}

#[test]
fn the_root_leads_to_the_page_wherever_it_is_nested() {
    let served = Served::read_only();
    for (path, target) in [("/ops", "./ops/dashboard"), ("/ops?a=b", "./ops/dashboard")] {
        let answer = get(served.address, path);
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, Some(target)),
            "{path}"
        );
    }
}
