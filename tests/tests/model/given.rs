//! Random settings and operations.

use cb_runtime::{OnCancel, Outcome, State};
use cb_tests::naive::{AtLimit, Settings, Window};
use proptest::prelude::*;
use proptest::sample::{Index, select};

const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1000 * MILLI;
const DAY: u64 = 86_400 * SECOND;

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Acquire,
    /// One of the running calls; without an outcome it is dropped.
    Finish(Index, Option<Outcome>),
    Advance(u64),
    /// To the end of the wait, or a little before it.
    AdvanceToDeadline {
        short_by: u64,
    },
    ByHand(State),
    OpenFor(u64),
    Reset,
}

/// A breaker and what is done with it.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) start: u64,
    pub(super) settings: Settings,
    /// Whether the buckets are left to the engine.
    pub(super) default_buckets: bool,
    /// With each step, whether somebody looks at the breaker after it.
    pub(super) steps: Vec<(Step, bool)>,
}

prop_compose! {
    pub(super) fn given()(
        start in prop_oneof![Just(0), 0..2 * SECOND, Just(1_700_000_000 * SECOND + 999 * MILLI)],
        (window, default_buckets) in window(),
        judged in judged(),
        recovering in recovering(),
        steps in prop::collection::vec((step(), prop::bool::weighted(0.8)), 1..120),
    ) -> Given {
        let (min_calls, failure_rate, slow, slow_rate, failure_count, consecutive_failures) = judged;
        let (wait, growth, auto_half_open, half_open_calls, half_open_max_wait, at_limit, on_cancel) =
            recovering;
        let limited = |n: u64| match window {
            Window::Calls(calls) => n.min(calls as u64),
            Window::Time { .. } => n,
        };
        let settings = Settings {
            window,
            min_calls: limited(min_calls),
            failure_rate,
            slow,
            slow_rate,
            failure_count: failure_count.map(limited),
            consecutive_failures,
            on_cancel,
            wait,
            wait_multiplier: growth.map_or(2, |(multiplier, _)| multiplier),
            wait_max: growth.map(|(_, cap)| wait.saturating_mul(cap)),
            auto_half_open,
            half_open_calls,
            half_open_max_wait,
            at_limit,
        };
        Given { start, settings, default_buckets, steps }
    }
}

fn window() -> impl Strategy<Value = (Window, bool)> {
    let time = |seconds: u64, buckets: u64, default: bool| {
        (
            Window::Time {
                bucket: seconds * SECOND / buckets,
                buckets,
            },
            default,
        )
    };
    prop_oneof![
        4 => (1usize..12).prop_map(|calls| (Window::Calls(calls), false)),
        1 => (60usize..70).prop_map(|calls| (Window::Calls(calls), false)),
        // What the engine chooses: a tenth of the window, a second, a sixtieth of the window.
        3 => select(vec![
            time(1, 10, true), time(5, 10, true), time(10, 10, true), time(12, 12, true),
            time(60, 60, true), time(120, 60, true), time(600, 60, true),
        ]),
        2 => select(vec![time(1, 1, false), time(3, 3, false), time(6, 2, false), time(1, 100, false)]),
    ]
}

type Judged = (u64, u64, Option<u64>, u64, Option<u64>, Option<u64>);

fn judged() -> impl Strategy<Value = Judged> {
    (
        1u64..8,
        rate(),
        prop::option::of(select(vec![1, 10 * MILLI, 500 * MILLI, 2 * SECOND])),
        rate(),
        prop::option::weighted(0.2, 1u64..6),
        prop::option::weighted(0.3, 1u64..8),
    )
}

/// Tenths of a percent; those that float arithmetic gets wrong among them.
fn rate() -> impl Strategy<Value = u64> {
    select(vec![
        5, 10, 70, 140, 250, 290, 333, 334, 500, 570, 580, 666, 667, 800, 1000,
    ])
}

type Recovering = (
    u64,
    Option<(u64, u64)>,
    bool,
    u64,
    Option<u64>,
    AtLimit,
    OnCancel,
);

fn recovering() -> impl Strategy<Value = Recovering> {
    (
        select(vec![
            100 * MILLI,
            333 * MILLI,
            SECOND,
            5 * SECOND,
            60 * SECOND,
        ]),
        prop::option::of((2u64..8, 1u64..40)),
        prop::bool::ANY,
        1u64..6,
        prop::option::of(select(vec![150 * MILLI, SECOND, 30 * SECOND])),
        select(vec![AtLimit::Decide, AtLimit::Open, AtLimit::Closed]),
        select(vec![OnCancel::Slow, OnCancel::Ignore, OnCancel::Failure]),
    )
}

fn step() -> impl Strategy<Value = Step> {
    let outcome = prop_oneof![
        4 => Just(Some(Outcome::Success)),
        4 => Just(Some(Outcome::Failure)),
        1 => Just(Some(Outcome::Ignored)),
        1 => Just(None),
    ];
    let advance = prop_oneof![
        4 => 0..20 * MILLI,
        4 => 20 * MILLI..SECOND,
        3 => SECOND..70 * SECOND,
        2 => (0u64..130).prop_map(|n| n * 100 * MILLI),
        1 => SECOND..DAY / 8,
    ];
    let state = select(vec![
        State::Closed,
        State::Open,
        State::HalfOpen,
        State::ForcedOpen,
        State::Disabled,
        State::MetricsOnly,
    ]);
    prop_oneof![
        30 => Just(Step::Acquire),
        30 => (any::<Index>(), outcome).prop_map(|(i, o)| Step::Finish(i, o)),
        15 => advance.prop_map(Step::Advance),
        6 => (0u64..2).prop_map(|short_by| Step::AdvanceToDeadline { short_by }),
        4 => state.prop_map(Step::ByHand),
        2 => (MILLI..9 * SECOND).prop_map(Step::OpenFor),
        1 => Just(Step::Reset),
    ]
}
