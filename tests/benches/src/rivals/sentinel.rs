//! sentinel-core: rates over a time in buckets, slow calls among them; one probe in HALF_OPEN; also
//! through its attribute, which records no errors.

use std::sync::Arc;

use sentinel_core::base::TrafficType;
use sentinel_core::circuitbreaker::{BreakerStrategy, Rule, append_rule, get_breakers_of_resource};
use sentinel_core::{EntryBuilder, Error, api};

use super::{LONG, OPENING, SHORT, WINDOW, state, wait_over};
use crate::answer::Answer;
use crate::case::Case;
use crate::subject::{List, Who, answer};
use crate::work::{Down, fail_tenth, forbidden, succeed};

const THEM: Who = Who::Rival("sentinel-core");
const ATTRIBUTE: Who = Who::Rival("sentinel's attribute");

fn ms(duration: std::time::Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

fn resource(name: &str, strategy: BreakerStrategy, wait: u32, slow_ms: u64) -> String {
    append_rule(Arc::new(Rule {
        id: name.into(),
        resource: name.into(),
        strategy,
        retry_timeout_ms: wait,
        min_request_amount: 10,
        stat_interval_ms: ms(WINDOW),
        stat_sliding_window_bucket_count: 30,
        max_allowed_rt_ms: slow_ms,
        threshold: 0.5,
    }));
    name.into()
}

#[inline]
fn call(resource: &str, work: impl FnOnce() -> Result<u64, Down>) -> Answer {
    let entry = EntryBuilder::new(resource.to_owned())
        .with_traffic_type(TrafficType::Inbound)
        .build();
    match entry {
        Ok(entry) => {
            let result = work();
            if result.is_err() {
                api::trace_error(&entry, Error::msg("down"));
            }
            entry.exit();
            answer(result, |_| false)
        }
        Err(refused) => answer(Err(refused), |_| true),
    }
}

fn seen(resource: &str) -> String {
    let breakers = get_breakers_of_resource(&resource.to_owned());
    breakers.first().map_or_else(
        || "without a rule".into(),
        |breaker| state(&breaker.current_state()),
    )
}

fn opened(name: &str, wait: u32) -> String {
    let resource = resource(name, BreakerStrategy::ErrorRatio, wait, 0);
    for _ in 0..OPENING {
        call(&resource, || Err(Down));
    }
    resource
}

#[sentinel_macros::circuitbreaker(
    threshold = 0.5,
    strategy = "ErrorRatio",
    retry_timeout_ms = 10_000,
    min_request_amount = 10,
    stat_interval_ms = 30_000,
    stat_sliding_window_bucket_count = 30
)]
fn annotated(n: u64) -> Result<u64, Down> {
    succeed(n)
}

pub(super) fn add(list: &mut List) {
    sentinel_core::init_default().expect("the defaults are valid");
    let ratio = BreakerStrategy::ErrorRatio;
    let slow = BreakerStrategy::SlowRequestRatio;
    for (case, strategy, slow_ms) in [
        (Case::Time, ratio, 0),
        (Case::SlowFar, slow, 2_000),
        (Case::SlowNear, slow, 50),
    ] {
        let name = resource(case.id(), strategy, ms(LONG), slow_ms);
        let looked = name.clone();
        list.sync(
            case,
            THEM,
            move |n| call(&name, || succeed(n)),
            move || seen(&looked),
        );
    }
    let name = resource("time-tenth", ratio, ms(LONG), 0);
    let looked = name.clone();
    let run = move |n| call(&name, || fail_tenth(n));
    list.sync(Case::TimeTenth, THEM, run, move || seen(&looked));

    let name = opened("open", ms(LONG));
    let looked = name.clone();
    list.sync(
        Case::Open,
        THEM,
        move |n| call(&name, || forbidden(n)),
        move || seen(&looked),
    );

    let name = opened("half-open-full", ms(SHORT));
    wait_over();
    let probe = EntryBuilder::new(name.clone())
        .with_traffic_type(TrafficType::Inbound)
        .build()
        .expect("the wait is over");
    std::mem::forget(probe);
    let looked = name.clone();
    let run = move |n| call(&name, || forbidden(n));
    list.sync(Case::HalfOpenFull, THEM, run, move || seen(&looked));

    let run = |n| match annotated(n) {
        Ok(ran) => answer(ran, |_| false),
        Err(refused) => answer(Err(refused), |_| true),
    };
    list.sync(Case::Time, ATTRIBUTE, run, || seen("annotated"));
}
