//! The streams.

use std::time::Duration;

use cb_runtime::{Registry, testing::TestClock};
use cb_tests::harness::{fail, succeed};
use serde_json::{Value, json};

use crate::http::{Events, Message};
use crate::served::Served;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn events_are_told_as_they_happen() {
    let served = Served::read_only();
    let stock = served.breaker("stock");
    fail(&stock, 4);
    let mut events = served.follow("/events");
    let hello = events.next();
    assert_eq!(hello.name, "hello");
    assert_eq!(
        hello.data,
        json!({"now": 0.0, "writable": false, "events_since": 0.0, "figures_every": null})
    );
    served.clock.advance(10 * SECOND);
    succeed(&stock, 2);
    let mut step = || {
        let message = events.next();
        assert_eq!(message.name, "message");
        assert!(message.id.is_some());
        (
            message.data["kind"]["from"].clone(),
            message.data["kind"]["to"].clone(),
        )
    };
    // What was before is not told.
    assert_eq!(step(), (json!("OPEN"), json!("HALF_OPEN")));
    assert_eq!(step(), (json!("HALF_OPEN"), json!("CLOSED")));
}

#[test]
fn who_comes_back_hears_what_was_missed() {
    let served = Served::read_only();
    let stock = served.breaker("stock");
    let mut events = served.follow("/events");
    events.next_named("hello");
    stock.force_open();
    let id = events.next().id.unwrap();
    drop(events);
    stock.close();
    stock.disable();

    let header = format!("last-event-id: {id}");
    let mut events = served.try_follow("/events", &[&header]).unwrap();
    events.next_named("hello");
    assert_eq!(events.next().data["kind"]["to"], "CLOSED");
    assert_eq!(events.next().data["kind"]["to"], "DISABLED");
    drop(events);

    for _ in 0..100 {
        stock.close();
        stock.disable();
    }
    let mut events = served.try_follow("/events", &[&header]).unwrap();
    events.next_named("hello");
    let lost = events.next();
    assert_eq!(lost.name, "dropped");
    assert_eq!(lost.data, json!({"dropped": 138, "total": 138}));
    for _ in 0..64 {
        assert_eq!(events.next().name, "message");
    }
    drop(events);

    // An id of the process before this one: all that is kept.
    let header = "last-event-id: abc-3";
    let mut events = served.try_follow("/events", &[header]).unwrap();
    events.next_named("hello");
    assert_eq!(events.next().data, json!({"dropped": 139, "total": 139}));
    assert_eq!(events.next().name, "message");
}

#[test]
fn a_client_that_does_not_read_loses_events_and_hears_how_many() {
    let served = Served::read_only();
    let stock = served.breaker("stock");
    let mut events = served.follow("/events");
    assert_eq!(events.next().name, "hello");
    // More than the sockets hold between the two, while nobody reads.
    let mut happened = 0;
    for _ in 0..100_000 {
        stock.force_open();
        stock.close();
        happened += 2;
    }
    stock.disable();
    happened += 1;
    let (mut told, mut lost) = (0, 0);
    loop {
        let message = events.next();
        match message.name.as_str() {
            "dropped" => {
                lost += message.data["dropped"].as_u64().unwrap();
                assert_eq!(message.data["total"], lost);
            }
            _ => told += 1,
        }
        if message.data["kind"]["to"] == "DISABLED" {
            break;
        }
    }
    assert_eq!(told + lost, happened);
    assert!(lost > 0, "the sockets held it all");
    assert!(told > 0);
}

fn tile<'a>(message: &'a Message, name: &str) -> Option<&'a Value> {
    let tiles = message.data["breakers"].as_array()?;
    tiles.iter().find(|tile| tile["name"] == name)
}

#[test]
fn figures_are_sent_once_a_second_and_only_of_those_that_changed() {
    let served = Served::read_only();
    let stock = served.breaker("stock");
    let prices = served.breaker("prices");
    fail(&prices, 4);
    let mut events = served.follow("/events?figures=1");
    assert_eq!(events.next().data["figures_every"], 1.0);
    let first = events.next();
    assert_eq!(first.name, "figures");
    assert_eq!(
        (&first.data["now"], &first.data["full"]),
        (&json!(0.0), &json!(true))
    );
    assert_eq!(first.data["breakers"].as_array().unwrap().len(), 2);
    assert_eq!(
        first.data["states"],
        json!({"prices": [[0.0, "CLOSED", "OPEN"]]})
    );
    let open = tile(&first, "prices").unwrap();
    assert_eq!(
        (&open["until"], &open["wait"]),
        (&json!(10.0), &json!(10.0))
    );
    assert_eq!(
        open["opened"],
        "4 of 4 calls failed (100%), `failure_rate` is 50%"
    );

    served.clock.advance(SECOND);
    let second = events.next();
    assert_eq!(
        second.data,
        json!({"now": 1.0, "full": false, "breakers": [], "removed": [], "states": null})
    );

    succeed(&stock, 1);
    served.clock.advance(SECOND);
    let third = events.next();
    assert_eq!(third.data["breakers"].as_array().unwrap().len(), 1);
    assert_eq!(tile(&third, "stock").unwrap()["calls"], 1);

    served.registry.remove("stock");
    served.clock.advance(SECOND);
    let fourth = events.next();
    assert_eq!(fourth.data["removed"], json!(["stock"]));
    assert_eq!(fourth.data["breakers"], json!([]));

    // A second client begins with everything.
    let mut other = served.follow("/events?figures=1");
    let full = other.next_named("figures");
    assert_eq!(full.data["full"], true);
    assert_eq!(full.data["removed"], json!([]));
    assert_eq!(full.data["breakers"].as_array().unwrap().len(), 1);
}

#[test]
fn what_only_time_changes_is_not_sent() {
    // On the system's clock, since a test clock stands still between two readings.
    let served = Served::of(&Registry::new(), TestClock::new(), |admin| admin);
    served.breaker("stock");
    fail(&served.breaker("prices"), 4);
    let mut events = served.follow("/events?figures=1");
    let first = events.next_named("figures").data;
    assert_eq!(first["breakers"].as_array().unwrap().len(), 2);
    let second = events.next_named("figures").data;
    assert!(second["now"].as_f64() > first["now"].as_f64());
    assert_eq!(second["breakers"], json!([]));
}

#[test]
fn many_removals_at_once_are_told_by_telling_what_is_left() {
    let served = Served::read_only();
    for number in 0..300 {
        served.breaker(&format!("shard {number}"));
    }
    let mut events = served.follow("/events?figures=1");
    let first = events.next_named("figures");
    assert_eq!(first.data["breakers"].as_array().unwrap().len(), 300);
    for number in 1..300 {
        served.registry.remove(&format!("shard {number}"));
    }
    served.clock.advance(SECOND);
    let second = events.next_named("figures");
    assert_eq!(second.data["full"], true);
    assert_eq!(second.data["breakers"].as_array().unwrap().len(), 1);
    served.clock.advance(SECOND);
    assert_eq!(events.next_named("figures").data["full"], false);
}

#[test]
fn a_stream_without_figures_shows_that_it_is_alive() {
    let served = Served::read_only();
    let mut events = served.follow("/events");
    events.next_named("hello");
    served.clock.advance(15 * SECOND);
    assert_eq!(events.block(), ": still here");
}

#[test]
fn there_is_a_limit_on_clients_and_leaving_makes_room() {
    let served = Served::with(|admin| admin.max_clients(2));
    let stock = served.breaker("stock");
    let first = served.follow("/events");
    let second = served.follow("/breakers/stock/calls");
    assert_eq!(served.try_follow("/events", &[]).err(), Some(503));
    assert_eq!(
        served.try_follow("/breakers/stock/calls", &[]).err(),
        Some(503)
    );
    // Reading goes on.
    assert_eq!(served.get("/breakers").status, 200);
    drop(first);
    let third = until(&served, "/events");
    drop((second, third));
    let _both = (until(&served, "/events"), until(&served, "/events"));
    assert_eq!(served.try_follow("/events", &[]).err(), Some(503));
    // What the gone clients had subscribed to is gone with them.
    succeed(&stock, 1);
    let none = Served::with(|admin| admin.max_clients(0));
    assert_eq!(none.try_follow("/events", &[]).err(), Some(503));
}

/// The server hears only when it next writes that a client has left.
fn until(served: &Served, path: &str) -> Events {
    loop {
        if let Ok(events) = served.try_follow(path, &[]) {
            return events;
        }
        served.clock.advance(15 * SECOND);
        std::thread::yield_now();
    }
}

#[test]
fn the_calls_of_one_breaker_can_be_followed() {
    let served = Served::read_only();
    let stock = served.breaker("stock");
    succeed(&stock, 1);
    let mut calls = served.follow("/breakers/stock/calls");
    let first = calls.next();
    assert_eq!(
        (first.name.as_str(), first.data),
        ("calls", json!({"calls": "", "dropped": 0}))
    );
    succeed(&stock, 2);
    stock.try_acquire().unwrap().ignore();
    let late = stock.try_acquire().unwrap();
    fail(&stock, 2);
    late.success();
    fail(&stock, 1);
    let mut seen = String::new();
    while seen.len() < 7 {
        let message = calls.next();
        assert_eq!(message.data["dropped"], 0);
        seen += message.data["calls"].as_str().unwrap();
        served.clock.advance(SECOND);
    }
    assert_eq!(seen, "ssifflr");
}

#[test]
fn a_client_that_does_not_follow_the_calls_hears_how_many_it_lost() {
    let served = Served::read_only();
    let stock = served.breaker("stock");
    let mut calls = served.follow("/breaker/calls?name=stock");
    calls.next();
    succeed(&stock, 2);
    let mut seen = calls.next().data["calls"].as_str().unwrap().len() as u64;
    // The next message waits for the clock.
    succeed(&stock, 10_000);
    served.clock.advance(SECOND);
    let mut lost = 0;
    while seen + lost < 10_002 {
        let message = calls.next();
        let told = message.data["calls"].as_str().unwrap().len();
        assert!(told <= 512);
        seen += told as u64;
        lost += message.data["dropped"].as_u64().unwrap();
        served.clock.advance(SECOND);
    }
    assert_eq!(seen + lost, 10_002);
    assert!(lost > 9_000, "{lost}");
}
