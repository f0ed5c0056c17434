//! The experiments. `published` is what Resilience4j 2.4.0 answered to the same traffic; for
//! interfaces and instances with breakers of their own it follows from the first one.

use std::time::Duration;

use cb_runtime::{CallError, CircuitBreaker, Config, ConfigError, registry};

use crate::bench::{Bench, rejected};
use crate::services::{
    AUTO, AppError, IGNORING, OWN, PLAIN, Pair, RECORDING, SECOND, SLOW, Service,
};

/// Resilience4j's wait, and the millisecond more after which it lets a call through.
const WAIT: Duration = Duration::from_millis(60_001);
const LATER: Duration = Duration::from_secs(600);
const HOUR: Duration = Duration::from_secs(3600);

pub(crate) struct Scenario {
    pub(crate) what: &'static str,
    pub(crate) published: &'static str,
    pub(crate) services: Pair,
    pub(crate) run: fn(Service) -> String,
}

pub(crate) const SCENARIOS: [Scenario; 18] = [
    Scenario {
        what: "99 failures, the 100th",
        published: "99: CLOSED, 100: OPEN (100 of 100 failed)",
        services: PLAIN,
        run: |service| {
            let bench = Bench::new();
            bench.fail(service, 99);
            let before = bench.state(service);
            bench.fail(service, 1);
            format!("99: {before}, 100: {}", bench.figures(service))
        },
    },
    Scenario {
        what: "100 successes, then 49 failures, the 50th",
        published: "49: CLOSED (49 of 100 failed), 50: OPEN (50 of 100 failed)",
        services: PLAIN,
        run: |service| {
            let bench = Bench::new();
            bench.succeed(service, 100);
            bench.fail(service, 49);
            let before = bench.figures(service);
            bench.fail(service, 1);
            format!("49: {before}, 50: {}", bench.figures(service))
        },
    },
    Scenario {
        what: "50 calls while open",
        published: "50 rejected",
        services: PLAIN,
        run: |service| {
            let bench = Bench::new().opened(service, Duration::ZERO);
            format!("{} rejected", bench.rejected_of(service, 50))
        },
    },
    Scenario {
        what: "wait over, no call comes",
        published: "60 s: OPEN, 11 min: OPEN, then a call: HALF_OPEN",
        services: PLAIN,
        run: wait_over,
    },
    Scenario {
        what: "the same with the automatic transition",
        published: "60 s: HALF_OPEN, 11 min: HALF_OPEN, then a call: HALF_OPEN",
        services: AUTO,
        run: wait_over,
    },
    Scenario {
        what: "half-open, 15 calls at once",
        published: "10 permitted, 5 rejected",
        services: PLAIN,
        run: |service| {
            let bench = Bench::new().opened(service, WAIT);
            let permitted = bench.hold(service, 15).len();
            format!("{permitted} permitted, {} rejected", 15 - permitted)
        },
    },
    Scenario {
        what: "half-open, 5 of 10 calls fail",
        published: "5 of 10 probes fail: OPEN",
        services: PLAIN,
        run: |service| probes(service, "fsfsfsfsfs"),
    },
    Scenario {
        what: "half-open, 4 of 10 calls fail",
        published: "4 of 10 probes fail: CLOSED",
        services: PLAIN,
        run: |service| probes(service, "fsfsfsfsss"),
    },
    Scenario {
        what: "half-open, 10 calls never return",
        published: "the next: rejected; an hour later: HALF_OPEN, the next: rejected",
        services: PLAIN,
        run: |service| {
            let bench = Bench::new().opened(service, WAIT);
            let _under_way = bench.hold(service, 10);
            let next = verdict(bench.hold(service, 1).is_empty());
            bench.advance(HOUR);
            let state = bench.state(service);
            let later = verdict(bench.hold(service, 1).is_empty());
            format!("the next: {next}; an hour later: {state}, the next: {later}")
        },
    },
    Scenario {
        what: "60 business errors of 100",
        published: "OPEN (60 of 100 failed)",
        services: PLAIN,
        run: business,
    },
    Scenario {
        what: "the same, ignored",
        published: "CLOSED (0 of 40 failed)",
        services: IGNORING,
        run: business,
    },
    Scenario {
        what: "the same, only other errors recorded",
        published: "CLOSED (0 of 100 failed)",
        services: RECORDING,
        run: business,
    },
    Scenario {
        what: "100 calls of 30 s, one after the other",
        published: "CLOSED (0 of 100 slow)",
        services: PLAIN,
        run: |service| {
            let bench = Bench::new();
            for _ in 0..100 {
                let call = bench.hold(service, 1);
                bench.advance(Duration::from_secs(30));
                call.into_iter().for_each(|call| call.end(Ok(())));
            }
            bench.slow_figures(service)
        },
    },
    Scenario {
        what: "100 calls of 30 s at once, slow limit 2 s at 50 %",
        published: "OPEN (100 of 100 slow)",
        services: SLOW,
        run: |service| {
            let bench = Bench::new();
            let calls = bench.hold(service, 100);
            bench.advance(Duration::from_secs(30));
            calls.into_iter().for_each(|call| call.end(Ok(())));
            bench.slow_figures(service)
        },
    },
    Scenario {
        what: "two interfaces share a breaker, one is broken",
        published: "broken: OPEN (50 of 100 failed), healthy: OPEN (50 of 100 failed), rejected",
        services: PLAIN,
        run: |service| interfaces(service, second(service, SECOND), 50),
    },
    Scenario {
        what: "two interfaces with a breaker each",
        published: "broken: OPEN (100 of 100 failed), healthy: CLOSED (0 of 100 failed), permitted",
        services: PLAIN,
        run: |service| interfaces(service, second(service, OWN), 100),
    },
    Scenario {
        what: "one instance of ten broken, one breaker",
        published: "0 open, 2000 calls: 200 failed, 0 rejected",
        services: PLAIN,
        run: |service| instances(service, 1),
    },
    Scenario {
        what: "one instance of ten broken, a breaker for each",
        published: "1 open, 2000 calls: 100 failed, 100 rejected",
        services: PLAIN,
        run: |service| instances(service, 10),
    },
];

fn wait_over(service: Service) -> String {
    let bench = Bench::new().opened(service, WAIT);
    let waited = bench.state(service);
    bench.advance(LATER);
    let later = bench.state(service);
    let _under_way = bench.hold(service, 1);
    format!(
        "60 s: {waited}, 11 min: {later}, then a call: {}",
        bench.state(service)
    )
}

/// Ten calls at once in HALF_OPEN that end in this order, `f` for a failure. Those that were not
/// permitted are no probes.
fn probes(service: Service, ends: &str) -> String {
    let bench = Bench::new().opened(service, WAIT);
    let calls = bench.hold(service, 10);
    let (permitted, mut failed) = (calls.len(), 0);
    for (call, end) in calls.into_iter().zip(ends.chars()) {
        if end == 'f' {
            failed += 1;
            call.end(Err(AppError::Outage));
        } else {
            call.end(Ok(()));
        }
    }
    format!(
        "{failed} of {permitted} probes fail: {}",
        bench.state(service)
    )
}

fn business(service: Service) -> String {
    let bench = Bench::new();
    bench.say_no_to_60_of_100(service);
    bench.figures(service)
}

/// The one of `pair` that belongs beside `first`.
fn second(first: Service, pair: Pair) -> Service {
    if first.breaker == PLAIN.theirs.breaker {
        pair.theirs
    } else {
        pair.ours
    }
}

/// `first` works, `second` is broken, both are called in turn; then `first` once more.
fn interfaces(first: Service, second: Service, calls: u32) -> String {
    let bench = Bench::new();
    for _ in 0..calls {
        bench.succeed(first, 1);
        bench.fail(second, 1);
    }
    let next = verdict(rejected(&bench.call(first, Ok(()))));
    let [broken, healthy] = [second, first].map(|service| bench.figures(service));
    format!("broken: {broken}, healthy: {healthy}, {next}")
}

/// 2000 calls to ten instances in turn, of which one is broken, through so many breakers.
fn instances(service: Service, breakers: usize) -> String {
    let bench = Bench::new();
    let breakers: Result<Vec<_>, _> = (0..breakers)
        .map(|number| instance(service, number))
        .collect();
    let breakers = match breakers {
        Ok(breakers) => breakers,
        Err(error) => return error.to_string(),
    };
    let (mut failed, mut rejected) = (0, 0);
    for call in 0..2000 {
        let instance = call % 10;
        let breaker = &breakers[instance % breakers.len()];
        match breaker.call(|| if instance == 3 { Err(()) } else { Ok(()) }) {
            Ok(()) => {}
            Err(CallError::NotPermitted(_)) => rejected += 1,
            Err(_) => failed += 1,
        }
    }
    let open = bench.open_ones("instance");
    format!("{open} open, 2000 calls: {failed} failed, {rejected} rejected")
}

/// Breakers for what is known only at run time are made by the registry.
fn instance(service: Service, number: usize) -> Result<CircuitBreaker, ConfigError> {
    let name = format!("instance-{number}");
    if service.breaker == PLAIN.theirs.breaker {
        registry().create_from(&name, "resilience4j", &Config::new())
    } else {
        Ok(registry().get_or_create(&name))
    }
}

fn verdict(rejected: bool) -> &'static str {
    if rejected { "rejected" } else { "permitted" }
}
