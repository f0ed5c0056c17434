//! Who may write, and what it does.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cb_runtime::State;
use cb_runtime::admin::{Operation, WriteRequest};
use cb_tests::harness::fail;

use crate::served::Served;

const HEADER: &str = "x-circuit-breaker-admin: 1";
const OPERATOR: &str = "authorization: Bearer of-the-operators";

fn is_operator(request: &WriteRequest) -> bool {
    let given = request.parts().headers.get("authorization");
    given.is_some_and(|given| given == "Bearer of-the-operators")
}

#[test]
fn without_an_authoriser_there_is_nothing_to_write() {
    let served = Served::read_only();
    let stock = served.breaker("stock");
    for operation in [
        "force_open",
        "close",
        "disable",
        "enable",
        "metrics_only",
        "reset",
    ] {
        for path in [
            format!("/breakers/stock/{operation}"),
            format!("/breaker/{operation}?name=stock"),
        ] {
            let answer = served.post(&path, &[HEADER, OPERATOR]);
            assert_eq!(answer.status, 404, "{path}");
            assert_eq!(answer.json()["error"], "there is no such route");
            // Not a route that refuses: none at all.
            assert_eq!(served.get(&path).status, 404, "{path}");
        }
    }
    for path in [
        "/breakers",
        "/breakers/stock",
        "/breakers/stock/events",
        "/events",
        "/health",
    ] {
        assert_eq!(served.post(path, &[HEADER, OPERATOR]).status, 405, "{path}");
    }
    assert_eq!(stock.snapshot().generation, 1);
    assert_eq!(served.get("/breakers").json()["writable"], false);
}

#[test]
fn whom_the_authoriser_allows_can_do_what_the_methods_do() {
    let served = Served::with(|admin| admin.authorise(is_operator));
    let stock = served.breaker("stock");
    assert_eq!(served.get("/breakers").json()["writable"], true);
    for (operation, then) in [
        ("force_open", State::ForcedOpen),
        ("close", State::Closed),
        ("disable", State::Disabled),
        ("enable", State::Closed),
        ("metrics_only", State::MetricsOnly),
        ("reset", State::Closed),
    ] {
        for path in [
            format!("/breakers/stock/{operation}"),
            format!("/breaker/{operation}?name=stock"),
        ] {
            stock.close();
            fail(&stock, 4);
            let answer = served.post(&path, &[HEADER, OPERATOR]);
            assert_eq!(answer.status, 200, "{path}");
            assert_eq!(stock.state(), then, "{path}");
            let told = answer.json();
            assert_eq!(told["breaker"]["name"], "stock");
            assert_eq!(told["breaker"]["state"], then.as_str());
            assert_eq!(stock.snapshot().calls, 0);
        }
    }
    // Unlike `close`, `reset` says so.
    let events = served.get("/breakers/stock/events").json();
    let last = events["events"].as_array().unwrap().last().unwrap();
    assert_eq!(last["kind"]["type"], "reset");
}

#[test]
fn who_is_not_allowed_changes_nothing() {
    let served = Served::with(|admin| admin.authorise(is_operator));
    let stock = served.breaker("stock");
    for headers in [
        &[][..],
        &[HEADER],
        &[OPERATOR],
        &["authorization: Bearer of-somebody", HEADER],
        // What a form of another site can send.
        &[OPERATOR, "content-type: application/x-www-form-urlencoded"],
    ] {
        let answer = served.post("/breakers/stock/force_open", headers);
        assert_eq!(answer.status, 403, "{headers:?}");
        // Also for breakers that do not exist.
        let answer = served.post("/breakers/none/force_open", headers);
        assert_eq!(answer.status, 403, "{headers:?}");
    }
    assert_eq!(stock.state(), State::Closed);
    assert_eq!(
        served
            .post("/breakers/none/force_open", &[HEADER, OPERATOR])
            .status,
        404
    );
    for path in ["/breakers/stock/open", "/breaker/open?name=stock"] {
        let answer = served.post(path, &[HEADER, OPERATOR]);
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(answer.json()["error"], "there is no such route");
    }
    assert_eq!(served.get("/breakers/stock/force_open").status, 405);
    assert_eq!(served.registry.breakers().len(), 1);
}

#[test]
fn the_authoriser_sees_what_is_wanted() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let served = Served::with(|admin| {
        admin.authorise(move |request| {
            let uri = request.parts().uri.to_string();
            let breaker = request.breaker().to_owned();
            log.lock()
                .unwrap()
                .push((request.operation(), breaker, uri));
            assert!(!format!("{request:?}").contains("secret"));
            true
        })
    });
    served.breaker("a/b");
    let headers = [HEADER, "authorization: secret"];
    served.post("/breakers/a%2Fb/metrics_only", &headers);
    served.post("/breaker/reset?name=a%2Fb", &headers);
    let seen = seen.lock().unwrap();
    assert_eq!(
        seen[..],
        [
            (
                Operation::MetricsOnly,
                "a/b".into(),
                "/breakers/a%2Fb/metrics_only".into()
            ),
            (
                Operation::Reset,
                "a/b".into(),
                "/breaker/reset?name=a%2Fb".into()
            ),
        ]
    );
}

#[test]
fn an_authoriser_may_take_its_time() {
    let served = Served::with(|admin| {
        admin.authorise_async(|request| async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            request.operation() == Operation::Disable
        })
    });
    let stock = served.breaker("stock");
    assert_eq!(
        served.post("/breakers/stock/force_open", &[HEADER]).status,
        403
    );
    assert_eq!(stock.state(), State::Closed);
    assert_eq!(
        served.post("/breakers/stock/disable", &[HEADER]).status,
        200
    );
    assert_eq!(stock.state(), State::Disabled);
}

#[test]
fn an_authoriser_that_panics_allows_nothing_and_stops_nothing() {
    let served = Served::with(|admin| {
        admin.authorise(|request| {
            assert_eq!(
                request.operation(),
                Operation::Close,
                "of the authoriser's own"
            );
            true
        })
    });
    let stock = served.breaker("stock");
    let denied = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        served.post("/breakers/stock/force_open", &[HEADER]).status
    }));
    assert!(denied.is_err(), "the connection ends without an answer");
    assert_eq!(stock.state(), State::Closed);
    assert_eq!(served.post("/breakers/stock/close", &[HEADER]).status, 200);
}
