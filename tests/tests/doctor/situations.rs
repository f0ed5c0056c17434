//! Situations, each with what is found in it. `true` makes it, `false` the same with the advice taken.

use std::time::Duration;

use cb_runtime::{Config, Interest, Mode, Severity, Symptom, Window};

use super::{Ward, s};

pub(crate) struct Situation {
    pub(crate) symptom: Symptom,
    pub(crate) severity: Severity,
    /// Of the text.
    pub(crate) part: &'static str,
    pub(crate) make: fn(&Ward, bool),
}

macro_rules! situations {
    ($($symptom:ident $severity:ident $part:literal: $make:expr;)*) => {
        pub(crate) const SITUATIONS: &[Situation] = &[$(Situation {
            symptom: Symptom::$symptom,
            severity: Severity::$severity,
            part: $part,
            make: $make,
        }),*];
    };
}

situations! {
    FailsBelowMinimum Problem "6 of 6 calls failed": |ward, sick| {
        let config = Config::new().consecutive_failures_off();
        let breaker = ward.admit(config.min_calls(if sick { 50 } else { 5 }));
        if sick {
            ward.calls(&breaker, 6, s(1), 1);
        } else {
            ward.calls(&breaker, 60, s(1), 9);
        }
    };
    BelowMinimum Note "the last 30s hold 5 calls": |ward, sick| {
        let breaker = ward.admit(Config::new());
        ward.calls(&breaker, 50, s(if sick { 6 } else { 1 }), 0);
    };
    BelowMinimum Problem "nothing else can open it": |ward, sick| {
        let config = Config::new().consecutive_failures_off();
        let breaker = ward.admit(if sick { config.min_calls(100) } else { config });
        ward.calls(&breaker, 60, s(1), 0);
    };
    // The incident: a hundred calls are wanted, and a call comes every two seconds.
    BelowMinimum Problem "the window of 100 calls holds 60 calls": |ward, sick| {
        let config = if sick { Config::resilience4j() } else { Config::new() };
        let breaker = ward.admit(config.half_open_max_wait(s(30)));
        ward.calls(&breaker, 60, s(2), 0);
    };
    LateProtection Warning "a call every 10s, an outage opens it after 100s": |ward, sick| {
        let config = Config::new().window(Window::Time(s(600)));
        let breaker = ward.admit(if sick { config } else { config.consecutive_failures(5) });
        ward.calls(&breaker, 100, s(10), 0);
    };
    NothingRecorded Warning "30 calls were ignored": |ward, sick| {
        let breaker = ward.admit(Config::new());
        ward.clock.advance(s(30));
        for _ in 0..30 {
            ward.clock.advance(s(1));
            let permit = breaker.try_acquire().unwrap();
            if sick { permit.ignore() } else { permit.success() }
        }
    };
    Hanging Problem "running for 30s": |ward, sick| {
        let config = Config::new().slow(s(2)).count_running(true).min_calls(100);
        let breaker = ward.admit(config);
        let permit = breaker.try_acquire_owned().unwrap();
        ward.clock.advance(s(if sick { 30 } else { 1 }));
        std::mem::forget(permit);
    };
    OpenLong Warning "(35%)": |ward, sick| {
        let breaker = ward.admit(Config::new());
        ward.calls(&breaker, 130, s(1), 0);
        breaker.open_for(s(70)).unwrap();
        ward.clock.advance(s(if sick { 70 } else { 10 }));
        breaker.close();
    };
    Flapping Warning "opened and closed 6 times": |ward, sick| {
        let breaker = ward.admit(Config::new());
        for _ in 0..6 {
            breaker.open_for(s(4)).unwrap();
            ward.clock.advance(s(4));
            breaker.close();
            ward.clock.advance(s(if sick { 60 } else { 600 }));
        }
    };
    ProbesFail Problem "opened 3 times in a row": |ward, sick| {
        let breaker = ward.admit(Config::new());
        ward.calls(&breaker, 1000, s(1), 0);
        for _ in 0..if sick { 3 } else { 1 } {
            breaker.open().unwrap();
            ward.clock.advance(s(10));
        }
    };
    ProbesFail Warning "10 of 15 probes failed": |ward, sick| {
        let breaker = ward.admit(Config::new());
        ward.calls(&breaker, 1000, s(1), 0);
        breaker.open().unwrap();
        for bad in [sick, sick, false] {
            ward.clock.advance(s(10));
            ward.calls(&breaker, 5, Duration::ZERO, u64::from(bad));
            if !bad && breaker.state() == cb_runtime::State::Closed {
                break;
            }
        }
    };
    LeftByHand Warning "FORCED_OPEN for": |ward, sick| {
        let breaker = ward.admit(Config::new());
        breaker.force_open();
        ward.clock.advance(s(if sick { 4000 } else { 1000 }));
    };
    LeftByHand Warning "DISABLED for": |ward, sick| {
        let mode = if sick { Mode::Disabled } else { Mode::Enabled };
        ward.admit(Config::new().mode(mode));
        ward.clock.advance(s(4000));
    };
    EventsDropped Note "events of calls were dropped": |ward, sick| {
        let breaker = ward.admit(Config::new());
        // A listener that calls: what it causes waits until it is done.
        let (inner, calls) = (breaker.clone(), if sick { 3000 } else { 1 });
        let _subscription = breaker.subscribe(Interest::CALLS, move |event| {
            if event.at.is_zero() && inner.snapshot().calls == 1 {
                for _ in 0..calls {
                    let _ = inner.call(|| Ok::<_, ()>(()));
                }
            }
        });
        let _ = breaker.call(|| Ok::<_, ()>(()));
    };
    OneSuccessCloses Warning "a single good probe": |ward, sick| {
        ward.admit(Config::new().half_open_calls(if sick { 1 } else { 5 }));
    };
    OneSuccessCloses Warning "a single good probe": |ward, sick| {
        ward.admit(Config::new().half_open_successes(if sick { 1 } else { 3 }));
    };
    OneSuccessCloses Warning "a single good probe": |ward, sick| {
        ward.admit(Config::new().min_calls(if sick { 1 } else { 3 }));
    };
    ShortWait Warning "`wait` is 2.9s": |ward, sick| {
        ward.admit(Config::new().wait(if sick { Duration::from_millis(2900) } else { s(3) }));
    };
    LongWait Warning "`wait` is 61s": |ward, sick| {
        ward.admit(Config::new().wait(s(if sick { 61 } else { 60 })));
    };
    LongWait Warning "`wait` is for ever": |ward, sick| {
        ward.admit(Config::new().wait(if sick { Duration::MAX } else { s(60) }));
    };
    HalfOpenUnlimited Warning "a probe that hangs": |ward, sick| {
        let config = Config::new();
        ward.admit(if sick { config.half_open_max_wait_off() } else { config });
    };
    RulesContradict Warning "`slow_rate` (registry default) has no effect": |ward, sick| {
        ward.registry.set_default(Config::new().slow(s(1)).slow_rate(40.0)).unwrap();
        let config = Config::new();
        ward.admit(if sick { config.slow_off() } else { config.slow(s(2)) });
    };
    RulesContradict Warning "`wait_multiplier` has no effect": |ward, sick| {
        ward.admit(Config::new().wait_multiplier(2.0).wait_max(s(if sick { 10 } else { 60 })));
    };
    RulesContradict Warning "`wait_by_failure_rate` has no effect": |ward, sick| {
        let config = Config::new().wait_by_failure_rate(true).wait_max(s(60));
        ward.admit(config.failure_rate(if sick { 100.0 } else { 60.0 }));
    };
    Conflict Problem "there is no template \"no such\"": |ward, sick| {
        ward.registry.set_template("one", Config::new().min_calls(20)).unwrap();
        let template = if sick { "no such" } else { "one" };
        ward.registry.create_from("sick", template, &Config::new()).unwrap();
    };
    Conflict Problem "was left out as a whole": |ward, sick| {
        ward.admit(Config::new().min_calls(50));
        let calls = if sick { 20 } else { 100 };
        ward.registry.set_default(Config::new().window(Window::Calls(calls))).unwrap();
    };
    Conflict Warning "it exists already": |ward, sick| {
        ward.admit(Config::new().min_calls(50));
        ward.admit(Config::new().min_calls(if sick { 49 } else { 50 }));
    };
    Suspended Warning "MetricsOnly until it is restored": |ward, sick| {
        ward.admit(Config::new());
        ward.registry.metrics_only("sick");
        if !sick {
            ward.registry.restore("sick");
        }
    };
}
