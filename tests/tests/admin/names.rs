//! Names that come from anywhere.

use std::time::Duration;

use cb_runtime::{CallError, State, circuit_breaker, testing::Scope};
use cb_tests::harness::fail;
use serde_json::Value;

use crate::served::Served;

const HEADER: &str = "x-circuit-breaker-admin: 1";

fn hostile() -> Vec<String> {
    let mut names: Vec<String> = [
        "",
        " ",
        ".",
        "..",
        "../..",
        "a/b",
        "/",
        "//",
        "a?name=b#c",
        "a&name=b",
        "100%",
        "%2F",
        "%00",
        "+",
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "'; DROP TABLE breakers; --",
        "{{7*7}}${7*7}",
        "line\r\nevent: dropped\ndata: {}\n\n",
        "\0\u{1}\u{1b}[31m\u{7f}\u{9f}",
        "\u{2028}\u{2029}\u{feff}",
        "\u{202e}txt.exe\u{202c}",
        "Ünïcödé ✓ 漢字 🦀",
        "[",
        "]",
        "[]",
        "a[b][c]",
        "events",
        "force_open",
        "__proto__",
        "constructor",
    ]
    .map(String::from)
    .into();
    names.push("n".repeat(10_240));
    names.push("漢".repeat(3_413));
    names.push("[".repeat(10_000) + "]");
    names
}

fn encoded(name: &str) -> String {
    name.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

#[test]
fn every_name_is_listed_and_found_as_it_is() {
    let served = Served::with(|admin| admin.authorise(|_| true));
    let names = hostile();
    for name in &names {
        served.breaker(name);
    }
    let listed = served.get("/breakers").json();
    let mut sorted = names.clone();
    sorted.sort();
    let all: Vec<_> = listed["breakers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|breaker| breaker["name"].as_str().unwrap())
        .collect();
    assert_eq!(all, sorted);

    for name in &names {
        let breaker = served.registry.get(name).unwrap();
        let found = served.get(&format!("/breaker?name={}", encoded(name)));
        assert_eq!(found.status, 200, "{name:?}");
        assert_eq!(found.json()["breaker"]["name"], **name);
        let done = served.post(
            &format!("/breaker/disable?name={}", encoded(name)),
            &[HEADER],
        );
        assert_eq!(done.status, 200, "{name:?}");
        assert_eq!(breaker.state(), State::Disabled, "{name:?}");
        if name.is_empty() {
            continue; // No path has an empty part.
        }
        let found = served.get(&format!("/breakers/{}", encoded(name)));
        assert_eq!(found.json()["breaker"]["name"], **name);
        let done = served.post(&format!("/breakers/{}/close", encoded(name)), &[HEADER]);
        assert_eq!(done.status, 200, "{name:?}");
        assert_eq!(breaker.state(), State::Closed, "{name:?}");
    }
    assert_eq!(served.registry.breakers().len(), names.len());
}

#[test]
fn no_name_breaks_out_of_its_message() {
    let served = Served::read_only();
    for name in &hostile() {
        let breaker = served.breaker(name);
        served.clock.advance(Duration::from_secs(1)); // beyond the figures of the client before
        let mut events = served.follow("/events?figures=1");
        assert_eq!(events.next().name, "hello");
        let figures = events.next_named("figures");
        let tiles = figures.data["breakers"].as_array().unwrap();
        assert!(tiles.iter().any(|tile| tile["name"] == **name), "{name:?}");
        fail(&breaker, 4);
        let event = loop {
            let message = events.next();
            match message.name.as_str() {
                "message" if message.data["kind"]["type"] == "transition" => break message,
                "message" | "figures" => {}
                other => panic!("{name:?} made a message of its own: {other}"),
            }
        };
        assert_eq!(event.data["breaker"], **name);
        assert_eq!(event.data["kind"]["to"], "OPEN");
    }
}

#[test]
fn what_is_no_text_finds_nothing() {
    let served = Served::read_only();
    served.breaker("stock");
    for path in [
        "/breakers/%ff",
        "/breaker?name=%ff",
        "/breakers/%ff/events",
        "/breakers/sto%63k%",
    ] {
        let status = served.get(path).status;
        assert!(status == 404 || status == 400, "{path}: {status}");
    }
    assert_eq!(served.get("/breakers/sto%63k").status, 200);
    // Longer than anybody's name: whatever the server makes of it, it goes on.
    let long = "%5b".repeat(20_000);
    assert_eq!(served.get(&format!("/breaker?name={long}%5d")).status, 404);
    assert_eq!(
        served.get("/breakers").json()["breakers"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[circuit_breaker(name = "admin.shard", key = shard, consecutive_failures = 2)]
fn shard(shard: &str) -> Result<(), CallError<&'static str>> {
    let _ = shard;
    Err(CallError::Failed("unreachable"))
}

#[circuit_breaker(name = "admin.never.called")]
fn never_called() -> Result<(), CallError<&'static str>> {
    Ok(())
}

#[test]
fn annotated_functions_are_there_before_they_are_called_and_keys_after() {
    let _ = never_called;
    let scope = Scope::new();
    let served = Served::of(scope.registry(), scope.clock().clone(), |admin| admin);
    let hostile = "]<b>\"/..";
    let path = format!("/breakers/{}", encoded(&format!("admin.shard[{hostile}]")));
    assert_eq!(served.get("/breakers/admin.never.called").status, 200);
    assert_eq!(served.get(&path).status, 404);
    for _ in 0..2 {
        let _ = shard(hostile);
    }
    assert_eq!(served.get(&path).json()["breaker"]["state"], "OPEN");
    // Asking for a key does not make its breaker.
    assert_eq!(served.get("/breakers/admin.shard%5Bother%5D").status, 404);
    let all = served.get("/breakers").json();
    let of_shard = |breaker: &&Value| {
        let name = breaker["name"].as_str().unwrap_or_default();
        name.starts_with("admin.shard")
    };
    assert_eq!(
        all["breakers"]
            .as_array()
            .unwrap()
            .iter()
            .filter(of_shard)
            .count(),
        1
    );
}
