//! Names that would be markup, code, or something else than they look like.

use cb_tests::harness::fail;
use serde_json::Value;

use crate::chromium::Page;
use crate::served::{Served, tile};

const NAMES: [&str; 12] = [
    "<img src=x onerror=\"window.hurt = 1\">",
    "<script>window.hurt = 1</script>",
    "\"><svg onload=window.hurt=1>",
    "javascript:window.hurt=1",
    "${window.hurt=1}{{window.hurt=1}}",
    "a/b?c=d&name=e#f%2F",
    "..",
    "",
    "   ",
    "two\nlines\r\n\0 and a bell \u{7}",
    "looks like \u{202e}nepo ton\u{2066} this",
    "__proto__",
];

#[test]
fn hostile_names_are_shown_and_reached_and_do_nothing() {
    let served = Served::start(|admin| admin.authorise(|_| true));
    let long = "n".repeat(10_240);
    let mut names: Vec<&str> = NAMES.into();
    names.push(&long);
    for name in &names {
        fail(&served.breaker(name), 4);
    }
    // Nothing has happened to these; every object has properties of their names.
    let quiet = ["constructor", "toString", "hasOwnProperty"];
    for name in quiet {
        served.breaker(name);
    }
    let page = Page::open(&served.page());
    page.size(1280, 900);
    page.wait(&format!(
        "document.querySelectorAll('.tile').length === {}",
        names.len() + quiet.len()
    ));
    page.screenshot("hostile");
    for name in names {
        let breaker = served.registry.get(name).expect("it was made");
        let text = page.text(&format!("{}.textContent", tile(name, ".name")));
        assert!(!text.trim().is_empty() && text.len() < 1000, "{text:?}");
        assert!(!text.contains(['\n', '\0', '\u{202e}']), "{text:?}");
        page.value(&format!("{}.click()", tile(name, ".name")));
        page.wait("document.querySelectorAll('#detail .explanation li').length > 1");
        page.wait("/ failed /.test(document.querySelector('#detail .happened').textContent)");
        let heading = page.text("document.getElementById('detail-name').textContent");
        assert!(
            !heading.trim().is_empty() && heading.len() < 2000,
            "{heading:?}"
        );
        // The name does not make lines of its own in the explanation.
        let first = page.text("document.querySelector('#detail .explanation li').textContent");
        assert!(first.starts_with("The first call in"), "{name:?}: {first}");
        page.value("document.querySelector('[data-operation=reset]').click()");
        page.wait(
            "document.querySelector('#detail .outcome').textContent === 'Done: it is CLOSED.'",
        );
        assert_eq!(breaker.state(), cb_runtime::State::Closed, "{name:?}");
        // Also from the address, as a link to the breaker.
        let hash = page.text("location.hash");
        let chosen = page.text("decodeURIComponent(location.hash.slice(1))");
        assert_eq!(chosen, name, "{hash}");
    }
    for hurt in [
        "window.hurt",
        "document.querySelector('main img, main script, main svg')",
    ] {
        assert_eq!(
            page.value(&format!("{hurt} ?? null")),
            Value::Null,
            "{hurt}"
        );
    }
    page.assert_no_complaints();

    // The policy itself, should a bug ever let markup through.
    page.value(
        "(() => {
           const image = document.createElement('img');
           try { image.setAttribute('onerror', 'window.hurt = 1'); } catch {}
           image.src = 'data:,';
           document.body.append(image);
           const script = document.createElement('script');
           try { script.text = 'window.hurt = 1'; document.body.append(script); } catch {}
           try { document.body.insertAdjacentHTML('beforeend', '<p id=made>'); } catch {}
         })()",
    );
    page.wait("document.querySelector('img').complete");
    assert_eq!(page.value("window.hurt ?? null"), Value::Null);
    assert_eq!(page.value("document.getElementById('made')"), Value::Null);
    assert!(
        !page.take_complaints().is_empty(),
        "the browser tells of what it refused"
    );
}
