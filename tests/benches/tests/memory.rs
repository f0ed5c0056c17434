//! What breakers take in memory, and that calls allocate nothing.

// The figures, with `--nocapture`.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Duration;

use allocation_counter::measure;
use cb_benches::{Who, subjects};
use cb_runtime::testing::Scope;
use cb_runtime::{CallNotPermitted, Config, Registry, Window, circuit_breaker};

/// The bytes of one breaker, with its name and its place in the registry: what a thousand more take.
fn bytes_of_a_breaker(config: &Config) -> u64 {
    const MANY: u64 = 1_000;
    let registry = Registry::new();
    let names: Vec<_> = (0..=MANY).map(|n| format!("downstream-{n:04}")).collect();
    let (first, others) = names.split_first().expect("there is one more than that");
    // What the registry makes once.
    registry.create(first, config).expect("it is valid");
    let made = measure(|| {
        for name in others {
            registry.create(name, config).expect("it is valid");
        }
    });
    drop(registry);
    u64::try_from(made.bytes_current).expect("they are alive") / MANY
}

fn print(what: &str, bytes: u64) {
    println!("{what}: {bytes} bytes");
}

#[test]
fn a_breaker_is_small() {
    let of_calls = bytes_of_a_breaker(&Config::new().window(Window::Calls(100)));
    print("a breaker with a window of 100 calls", of_calls);
    let of_time = bytes_of_a_breaker(&Config::new());
    print("a breaker with the default configuration", of_time);
    // With all features on; as they are by default it is 32 bytes less.
    assert!(of_calls <= 512 + 32);
    assert!(of_time <= 960 + 32);
}

#[test]
fn a_window_grows_by_little_for_each_call() {
    let small = bytes_of_a_breaker(&Config::new().window(Window::Calls(1_000)));
    let large = bytes_of_a_breaker(&Config::new().window(Window::Calls(101_000)));
    let for_a_thousand = (large - small) / 100;
    print("a window, for each thousand calls", for_a_thousand);
    assert!(for_a_thousand <= 1_600);
}

#[test]
fn calls_allocate_nothing() {
    for subject in subjects() {
        if !matches!(subject.who, Who::Ours(_)) {
            continue;
        }
        // What is made at the first call of a function, a thread or a key.
        let _ = subject.run(10_000);
        let calls = measure(|| {
            let _ = black_box(subject.run(10_000));
        });
        let name = format!("{}, {}", subject.who, subject.case.label());
        assert_eq!(calls.count_total, 0, "{name}: {calls:?}");
    }
}

#[circuit_breaker(name = "memory.keyed", key = host, max_keys = 1_000, window = 100)]
fn keyed(host: u32) -> Result<u32, CallNotPermitted> {
    Ok(host)
}

/// A hundred generations of keys; each makes room for the next by being idle.
#[test]
fn keys_that_come_and_go_do_not_add_up() {
    const GENERATION: u32 = 1_000;
    let scope = Scope::new();
    let generation = |number: u32| {
        for host in number * GENERATION..(number + 1) * GENERATION {
            keyed(host).expect("it is CLOSED");
        }
        scope.clock().advance(Duration::from_secs(60));
    };
    let first = measure(|| generation(0));
    let bytes = u64::try_from(first.bytes_current).expect("they are alive");
    print("a key", bytes / u64::from(GENERATION));
    assert!(bytes <= 616 * u64::from(GENERATION));

    let others = measure(|| (1..100).for_each(generation));
    print(
        "99 000 more keys, in all",
        u64::try_from(others.bytes_current).unwrap_or(0),
    );
    assert!(others.count_current <= 0, "{others:?}");
    // The map of the keys may grow once more, to have room for what was removed from it.
    assert!(
        others.bytes_current < 99_000,
        "less than a byte each: {others:?}"
    );

    let figures = scope.registry().key_figures("memory.keyed");
    let figures = figures.expect("it has keys");
    assert_eq!(figures.keys, 1_000);
    assert_eq!(figures.dropped, 99_000);
    assert_eq!(figures.overflowed, 0);
}
