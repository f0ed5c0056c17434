//! What can be read.

use std::time::Duration;

use cb_runtime::Config;
use cb_tests::harness::{fail, succeed};
use serde_json::json;

use crate::http::send;
use crate::served::Served;

#[test]
fn all_breakers_are_listed_by_name() {
    let served = Served::read_only();
    assert_eq!(
        served.get("/breakers").json(),
        json!({"now": 0.0, "writable": false, "breakers": []})
    );
    served.breaker("stock");
    let prices = served.breaker("prices");
    fail(&prices, 4);
    served.clock.advance(Duration::from_millis(1500));
    let all = served.get("/breakers").json();
    assert_eq!(all["now"], 1.5);
    let list = all["breakers"].as_array().unwrap();
    assert_eq!(list.len(), 2);
    assert_eq!(list[0]["name"], "prices");
    assert_eq!(list[0]["state"], "OPEN");
    assert_eq!(list[0]["retry_after"], 8.5);
    assert_eq!(list[1]["name"], "stock");
    assert_eq!(list[1]["state"], "CLOSED");
}

#[test]
fn one_breaker_tells_why_it_is_so() {
    let served = Served::read_only();
    let stock = served.breaker("stock");
    succeed(&stock, 1);
    fail(&stock, 3);
    served.clock.advance(Duration::from_secs(1));
    let one = served.get("/breakers/stock").json();
    assert_eq!(one["breaker"]["state"], "OPEN");
    assert_eq!(one["explanation"], stock.explain().to_string());
    assert_eq!(
        one["config"][0],
        json!({"setting": "window", "value": "4", "layer": "code"})
    );
    assert_eq!(one["events_since"], 0.0);
    let events = one["events"].as_array().unwrap();
    assert_eq!(events.len(), 2);
    assert_eq!(events[1]["kind"]["to"], "OPEN");
    assert_eq!(
        events[1]["text"],
        "CLOSED to OPEN: 3 of 4 calls failed (75%), `failure_rate` is 50%"
    );
    assert_eq!(
        served.get("/breakers/stock/events").json()["events"],
        one["events"]
    );
    // The same by the query.
    assert_eq!(served.get("/breaker?name=stock").json(), one);
    assert_eq!(
        served.get("/breaker/events?name=stock").json()["events"],
        one["events"]
    );
}

#[test]
fn events_are_kept_in_order_and_of_each_breaker_alone() {
    let served = Served::read_only();
    let (stock, prices) = (served.breaker("stock"), served.breaker("prices"));
    prices.disable();
    for _ in 0..3 {
        served.clock.advance(Duration::from_secs(1));
        stock.force_open();
        stock.close();
    }
    let told = served.get("/breakers/stock/events").json();
    assert_eq!(told["now"], 3.0);
    let times: Vec<_> = told["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| (event["at"].as_f64().unwrap(), &event["kind"]["to"]))
        .collect();
    let (forced, closed) = (json!("FORCED_OPEN"), json!("CLOSED"));
    assert_eq!(
        times,
        [
            (1.0, &forced),
            (1.0, &closed),
            (2.0, &forced),
            (2.0, &closed),
            (3.0, &forced),
            (3.0, &closed),
        ]
    );
    for _ in 0..100 {
        stock.force_open();
        stock.close();
    }
    let told = served.get("/breakers/stock/events").json();
    assert_eq!(told["events"].as_array().unwrap().len(), 64);
    let told = served.get("/breakers/prices/events").json();
    assert_eq!(told["events"].as_array().unwrap().len(), 1);
}

#[test]
fn health_names_what_rejects_and_what_is_wrong() {
    let served = Served::read_only();
    served.breaker("quiet");
    let stock = served.breaker("stock");
    assert_eq!(served.get("/health").json()["status"], "ok");

    fail(&stock, 4);
    let _ = served.registry.create("quiet", &Config::new());
    let health = served.get("/health");
    assert_eq!(health.status, 200);
    let health = health.json();
    assert_eq!(health["status"], "rejecting");
    assert_eq!(health["breakers"], 2);
    assert_eq!(health["states"], json!({"CLOSED": 1, "OPEN": 1}));
    assert_eq!(
        health["rejecting"],
        json!([{"name": "stock", "state": "OPEN", "in_state_for": 0.0, "retry_after": 10.0}])
    );
    assert_eq!(health["conflicts"][0]["kind"]["type"], "already_made");
    assert_eq!(
        health["conflicts"][0]["text"],
        served.registry.conflicts()[0].to_string()
    );

    served.clock.advance(Duration::from_secs(10));
    succeed(&stock, 1);
    let health = served.get("/health").json();
    assert_eq!(
        (&health["status"], &health["rejecting"]),
        (&json!("recovering"), &json!([]))
    );
    succeed(&stock, 1);
    assert_eq!(served.get("/health").json()["status"], "ok");

    for number in 0..103 {
        served.breaker(&format!("shard {number}")).force_open();
    }
    let health = served.get("/health").json();
    assert_eq!(health["rejecting"].as_array().unwrap().len(), 100);
    assert_eq!(health["rejecting_not_named"], 3);
}

#[test]
fn what_does_not_exist_is_not_made() {
    let served = Served::read_only();
    served.breaker("stock");
    for path in [
        "/breakers/none",
        "/breakers/none/events",
        "/breakers/none/calls",
        "/breakers/stock/none",
        "/breakers/stock/events/none",
        "/breaker",
        "/breaker?name=none",
        "/breaker/events?name=none",
        "/breaker/calls?name=none",
        "/breaker?nam=stock",
        "/none",
        "/page/none",
        "/page/..%2fdashboard.html",
    ] {
        assert_eq!(served.get(path).status, 404, "{path}");
    }
    assert_eq!(served.registry.breakers().len(), 1);
    let refused = served.get("/breakers/%3Cscript%3E");
    assert!(!refused.body.contains("script"), "{}", refused.body);
}

#[test]
fn nothing_is_cached_or_taken_for_another_type() {
    let served = Served::read_only();
    served.breaker("stock");
    for path in [
        "/breakers",
        "/breakers/stock",
        "/breakers/none",
        "/health",
        "/dashboard",
    ] {
        let answer = served.get(path);
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(
            answer.header("x-content-type-options"),
            Some("nosniff"),
            "{path}"
        );
    }
    let head = send(served.address, "HEAD", "/ops/breakers", &[]);
    assert_eq!(head.status, 200);
}
