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
fn every_file_that_the_page_names_is_served() {
    let served = Served::read_only();
    let page = served.get("/dashboard").body;
    let mut wanted: Vec<String> = Vec::new();
    for attribute in ["src=\"", "href=\""] {
        let values = page.split(attribute).skip(1);
        wanted.extend(values.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
    }
    wanted.retain(|address| !address.starts_with('#'));
    let mut next = 0;
    while let Some(address) = wanted.get(next).cloned() {
        next += 1;
        let answer = served.get(&format!("/{address}"));
        assert_eq!(answer.status, 200, "{address}");
        let of_its_type = match address.rsplit_once('.') {
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "svg")) => "image/svg+xml",
            _ => "application/json",
        };
        assert_eq!(
            answer.header("content-type"),
            Some(of_its_type),
            "{address}"
        );
        // What a module imports.
        for line in answer
            .body
            .lines()
            .filter(|line| line.starts_with("import "))
        {
            let file = line
                .split('"')
                .nth(1)
                .and_then(|path| path.strip_prefix("./"));
            let address = format!("page/{}", file.expect("an import from beside it"));
            if !wanted.contains(&address) {
                wanted.push(address);
            }
        }
    }
    assert!(wanted.len() > 15, "{wanted:?}");
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
    let answer = get(served.address, "/service/");
    assert_eq!(
        (answer.status, answer.header("location")),
        (303, Some("dashboard"))
    );
}
