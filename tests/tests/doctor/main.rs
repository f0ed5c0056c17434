//! The doctor finds what is wrong, in each of these situations, and nothing where nothing is.

#![allow(clippy::unwrap_used)] // in the helpers of the tests

mod situations;

use std::time::Duration;

use cb_runtime::testing::TestClock;
use cb_runtime::{CircuitBreaker, Config, Registry, Severity, Symptom};
use situations::SITUATIONS;

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A registry on a test's clock.
struct Ward {
    registry: Registry,
    clock: TestClock,
}

impl Ward {
    fn new() -> Self {
        let clock = TestClock::new();
        let registry = Registry::with_clock(&clock);
        Self { registry, clock }
    }

    fn admit(&self, config: Config) -> CircuitBreaker {
        self.registry.create("sick", &config).unwrap()
    }

    /// A call every so many seconds, of which every `bad`th fails; none if that is 0.
    fn calls(&self, breaker: &CircuitBreaker, number: u64, every: Duration, bad: u64) {
        for call in 1..=number {
            self.clock.advance(every);
            let fails = bad > 0 && call % bad == 0;
            let _ = breaker.call(|| if fails { Err("down") } else { Ok(()) });
        }
    }
}

#[test]
fn each_situation_is_found_and_its_cure_is_healthy() {
    for situation in SITUATIONS {
        let ward = Ward::new();
        (situation.make)(&ward, true);
        let diagnosis = ward.registry.doctor();
        let found: Vec<_> = diagnosis.of(situation.symptom).collect();
        assert_eq!(found.len(), 1, "{:?}: {diagnosis}", situation.symptom);
        assert_eq!(found[0].severity, situation.severity, "{diagnosis}");
        assert!(
            found[0].text.contains(situation.part),
            "{:?}: {diagnosis}",
            situation.symptom
        );
        let ward = Ward::new();
        (situation.make)(&ward, false);
        let diagnosis = ward.registry.doctor();
        assert!(
            diagnosis.is_healthy(),
            "cured of {:?}: {diagnosis}",
            situation.symptom
        );
    }
}

/// Twenty breakers with the defaults, ordinary traffic, some failures, an outage that was over soon.
#[test]
fn a_healthy_registry_has_nothing() {
    let ward = Ward::new();
    let names: Vec<_> = (0..20).map(|number| format!("service {number}")).collect();
    let breakers: Vec<_> = names
        .iter()
        .map(|name| ward.registry.get_or_create(name))
        .collect();
    for round in 0..2000_u64 {
        ward.clock.advance(Duration::from_millis(500));
        for (number, breaker) in breakers.iter().enumerate() {
            let outage = number == 7 && (1000..1030).contains(&round);
            let fails = outage || round % 40 == number as u64;
            let _ = breaker.call(|| if fails { Err("down") } else { Ok(()) });
        }
    }
    assert!(
        breakers[7]
            .snapshot()
            .totals_of(cb_runtime::State::Open)
            .entries
            > 0
    );
    let diagnosis = ward.registry.doctor();
    assert!(diagnosis.is_healthy(), "{diagnosis}");
    assert_eq!(
        diagnosis.to_string(),
        "nothing found, 20 breakers looked at\n"
    );
}

#[test]
fn what_was_never_called_is_healthy() {
    let ward = Ward::new();
    ward.registry.get_or_create("quiet");
    ward.clock.advance(s(100_000));
    assert!(ward.registry.doctor().is_healthy());
}

#[test]
fn the_worst_comes_first_and_says_what_to_do() {
    let ward = Ward::new();
    ward.registry
        .create("b", &Config::new().wait(s(1)))
        .unwrap();
    let failing = Config::new().consecutive_failures_off().min_calls(50);
    let breaker = ward.registry.create("c", &failing).unwrap();
    ward.registry
        .create("a", &Config::new().half_open_max_wait_off())
        .unwrap();
    ward.calls(&breaker, 5, s(1), 1);
    let diagnosis = ward.registry.doctor();
    let names: Vec<_> = diagnosis
        .findings
        .iter()
        .map(|one| one.breaker.as_str())
        .collect();
    assert_eq!(names, ["c", "a", "b"]);
    assert_eq!(diagnosis.findings[0].severity, Severity::Problem);
    assert_eq!(
        diagnosis.findings[0].to_string(),
        "problem: `c`: 5 of 5 calls failed, but no rate is judged below `min_calls`, 50 calls.\n    \
         Lower `min_calls`, or set `consecutive_failures`."
    );
    let json = serde_json::to_value(&diagnosis).unwrap();
    assert_eq!(json["breakers"], 3);
    assert_eq!(json["findings"][0]["symptom"], "fails_below_minimum");
    assert_eq!(json["findings"][0]["severity"], "problem");
}

/// Whether the service is to blame for probes that fail, or a function that calls under its own breaker.
#[test]
fn probes_that_keep_their_own_calls_out_have_another_cure() {
    let advice = |nested: bool| {
        let ward = Ward::new();
        let breaker = ward.admit(Config::new().half_open_calls(1));
        breaker.open().unwrap();
        for _ in 0..3 {
            ward.clock.advance(s(10));
            let _ = breaker.call(|| match nested {
                true => breaker.call(|| Ok::<_, &str>(())).map_err(|_| "rejected"),
                false => Err("down"),
            });
        }
        let found = ward.registry.doctor().findings;
        let probes = found.iter().find(|one| one.symptom == Symptom::ProbesFail);
        probes.unwrap().advice
    };
    assert!(
        advice(true).contains("Guard one of the two"),
        "{}",
        advice(true)
    );
    assert!(
        advice(false).contains("wait_multiplier"),
        "{}",
        advice(false)
    );
}

/// Looking changes nothing that can be seen.
#[test]
fn looking_changes_nothing() {
    let ward = Ward::new();
    let breaker = ward.admit(Config::new());
    ward.calls(&breaker, 30, s(1), 4);
    let before = (breaker.snapshot(), breaker.config());
    let first = ward.registry.doctor();
    assert_eq!((breaker.snapshot(), breaker.config()), before);
    assert_eq!(ward.registry.doctor(), first);
}

/// All symptoms that the table below does not make are made by annotated functions.
#[test]
fn every_symptom_has_its_situation() {
    let elsewhere = [
        Symptom::SlowNeverSeen,
        Symptom::FallbackOften,
        Symptom::KeysShareABreaker,
    ];
    let all = [
        Symptom::FailsBelowMinimum,
        Symptom::BelowMinimum,
        Symptom::LateProtection,
        Symptom::NothingRecorded,
        Symptom::FallbackOften,
        Symptom::Hanging,
        Symptom::OpenLong,
        Symptom::Flapping,
        Symptom::ProbesFail,
        Symptom::LeftByHand,
        Symptom::EventsDropped,
        Symptom::OneSuccessCloses,
        Symptom::ShortWait,
        Symptom::LongWait,
        Symptom::HalfOpenUnlimited,
        Symptom::SlowNeverSeen,
        Symptom::RulesContradict,
        Symptom::Conflict,
        Symptom::KeysShareABreaker,
        Symptom::Suspended,
    ];
    for symptom in all {
        let made = SITUATIONS.iter().any(|one| one.symptom == symptom);
        assert!(made || elsewhere.contains(&symptom), "{symptom:?}");
    }
}

mod functions {
    //! What only annotated functions have: timeouts, fallbacks, keys.

    use std::time::Duration;

    use cb_runtime::testing::Scope;
    use cb_runtime::{CallError, CallNotPermitted, Config, Diagnosis, Symptom, circuit_breaker};

    type Reply = Result<u32, CallError<&'static str>>;

    #[circuit_breaker(name = "doctor.timed", timeout = "5s", half_open_max_wait = "20s")]
    async fn timed() -> Reply {
        Ok(7)
    }

    #[circuit_breaker(name = "doctor.cached", fallback = cached)]
    fn fetch(up: bool) -> Reply {
        if up {
            Ok(7)
        } else {
            Err(CallError::Failed("down"))
        }
    }

    fn cached(_: bool, _: CallNotPermitted) -> Reply {
        Ok(3)
    }

    #[circuit_breaker(name = "doctor.user", key = user, max_keys = 3, wait = "1s")]
    fn user(user: u32) -> Reply {
        Ok(user)
    }

    /// Of the functions above; those of other tests are in the registry too.
    fn found(scope: &Scope, name: &str) -> Vec<Symptom> {
        let Diagnosis { findings, .. } = scope.registry().doctor();
        let mine = findings
            .into_iter()
            .filter(|one| one.breaker.starts_with(name));
        mine.map(|one| one.symptom).collect()
    }

    #[test]
    fn slow_calls_that_a_timeout_hides() {
        let scope = Scope::new();
        drop(timed());
        assert!(found(&scope, "doctor.timed").is_empty());
        let registry = scope.registry();
        let slow = |seconds| Config::new().slow(Duration::from_secs(seconds));
        registry.configure("doctor.timed", slow(5)).unwrap();
        assert_eq!(found(&scope, "doctor.timed"), [Symptom::SlowNeverSeen]);
        registry.configure("doctor.timed", slow(2)).unwrap();
        assert!(found(&scope, "doctor.timed").is_empty());
        let short = Config::new().half_open_max_wait(Duration::from_secs(4));
        registry.configure("doctor.timed", short).unwrap();
        assert_eq!(found(&scope, "doctor.timed"), [Symptom::RulesContradict]);
    }

    #[test]
    fn callers_that_live_on_the_fallback() {
        let scope = Scope::new();
        for second in 0..200 {
            scope.clock().advance(Duration::from_secs(1));
            assert!(second < 100 || fetch(true).is_ok());
            let _ = second >= 100 || fetch(false).is_ok();
        }
        let symptoms = found(&scope, "doctor.cached");
        assert!(symptoms.contains(&Symptom::FallbackOften), "{symptoms:?}");
        let scope = Scope::new();
        for second in 0..400 {
            scope.clock().advance(Duration::from_secs(1));
            let _ = fetch(second % 5 > 0);
        }
        assert!(found(&scope, "doctor.cached").is_empty());
    }

    #[test]
    fn keys_without_room_and_settings_told_once_for_all_keys() {
        let scope = Scope::new();
        for key in 0..3 {
            let _ = user(key);
        }
        assert_eq!(found(&scope, "doctor.user"), [Symptom::ShortWait]);
        let _ = user(3);
        let symptoms = found(&scope, "doctor.user");
        assert_eq!(symptoms, [Symptom::KeysShareABreaker, Symptom::ShortWait]);
    }
}
