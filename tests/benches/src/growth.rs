//! How the cost of a call grows with what there is more of.

use std::hint::black_box;
use std::sync::Arc;

use cb_runtime::{CircuitBreaker, Config, Interest, Registry, Window};

use crate::answer::Answer;
use crate::case::Case;
use crate::ours::{answer, turn};
use crate::subject::{List, Subject, Through, Who};
use crate::work::{fail_tenth, succeed};

const US: Who = Who::Ours(Through::Call);
const ANNOTATED: Who = Who::Ours(Through::Attribute);

/// Lines over the same values.
pub struct Panel {
    /// What there is more of.
    pub title: &'static str,
    /// The values.
    pub values: Vec<u64>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A subject for each of the panel's values.
pub struct Line {
    /// What is done.
    pub name: &'static str,
    point: Box<dyn Fn(u64) -> (Subject, usize)>,
}

impl Line {
    fn new(name: &'static str, subject: impl Fn(u64) -> Subject + 'static) -> Self {
        Self {
            name,
            point: Box::new(move |value| (subject(value), 1)),
        }
    }

    /// The subject for one of the values, and on how many threads it is to be measured. To be made,
    /// measured and dropped one after the other: a million breakers would take the memory, and a
    /// listener the calm, of all others.
    #[must_use]
    pub fn point(&self, value: u64) -> (Arc<Subject>, usize) {
        let (subject, threads) = (self.point)(value);
        (Arc::new(subject), threads)
    }
}

/// All of them.
#[must_use]
pub fn panels() -> Vec<Panel> {
    vec![windows(), breakers(), threads(), listeners()]
}

fn windows() -> Panel {
    let values = vec![10, 100, 1_000, 10_000, 100_000];
    let line = |name, case| {
        Line::new(name, move |calls| {
            let calls = u32::try_from(calls).expect("it is one of the above");
            of_one(
                case,
                &Config::new().window(Window::Calls(calls)),
                calls.into(),
            )
        })
    };
    Panel {
        title: "calls in the window",
        lines: vec![
            line("success", Case::Closed),
            line("1 of 10 fails", Case::Tenth),
        ],
        values,
    }
}

fn breakers() -> Panel {
    let values = vec![1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];
    let line = |name, by_name| Line::new(name, move |many| in_turn(many, by_name));
    Panel {
        title: "breakers, in turn",
        lines: vec![
            line("success", false),
            line("got from the registry by name", true),
        ],
        values,
    }
}

fn threads() -> Panel {
    let values = vec![1, 2, 4, 8];
    let line = |name, case, config: Config| Line {
        name,
        point: Box::new(move |threads| {
            let threads = usize::try_from(threads).expect("it is one of the above");
            (of_one(case, &config, 100), threads)
        }),
    };
    let open = Line {
        name: "OPEN",
        point: Box::new(|threads| {
            let annotated = |it: &Subject| it.case == Case::Open && it.who == ANNOTATED;
            let mut list = List::default();
            crate::ours::add(&mut list);
            let open = list.into_subjects().into_iter().find(annotated);
            let threads = usize::try_from(threads).expect("it is one of the above");
            (
                open.expect("there is an annotated function for it"),
                threads,
            )
        }),
    };
    Panel {
        title: "threads on one breaker",
        lines: vec![
            line("success", Case::Closed, hundred()),
            line("1 of 10 fails", Case::Tenth, hundred()),
            line("success, window of 30 s", Case::Time, Config::new()),
            open,
        ],
        values,
    }
}

fn listeners() -> Panel {
    let values = vec![0, 1, 2, 5, 10];
    let line = |name, interest| {
        Line::new(name, move |many| {
            let breaker = breaker(&hundred());
            let listening: Vec<_> = (0..many)
                .map(|_| {
                    breaker.subscribe(interest, |event| {
                        black_box(event);
                    })
                })
                .collect();
            let mut list = List::default();
            list.sync_untold(Case::Closed, US, move |n| {
                // Subscribed for as long as there are calls.
                let _ = &listening;
                answer(breaker.call(|| succeed(n)))
            });
            list.into_one()
        })
    };
    Panel {
        title: "listeners",
        lines: vec![
            line("of transitions", Interest::TRANSITIONS),
            line("of every call", Interest::CALLS),
        ],
        values,
    }
}

fn hundred() -> Config {
    Config::new().window(Window::Calls(100))
}

fn breaker(config: &Config) -> CircuitBreaker {
    Registry::new()
        .create("grown", config)
        .expect("the configuration is valid")
}

/// One breaker, after so many calls.
fn of_one(case: Case, config: &Config, warm: u64) -> Subject {
    let breaker = breaker(config);
    let mut list = List::default();
    match case {
        Case::Tenth => {
            list.sync_untold(case, US, move |n| answer(breaker.call(|| fail_tenth(n))));
        }
        _ => list.sync_untold(case, US, move |n| answer(breaker.call(|| succeed(n)))),
    }
    let mut subject = list.into_one();
    subject.warm = warm;
    subject
}

/// So many breakers of one registry.
fn in_turn(many: u64, by_name: bool) -> Subject {
    let registry = Registry::new();
    let config = hundred();
    let names: Vec<_> = (0..many).map(|n| format!("downstream-{n:07}")).collect();
    let create = |name: &String| registry.create(name, &config).expect("it is valid");
    let breakers: Vec<_> = names.iter().map(create).collect();
    let mut list = List::default();
    if by_name {
        list.sync_untold(Case::Closed, US, move |n| {
            let breaker = registry.get(&names[turn(n, names.len())]);
            breaker.map_or(Answer::Rejected, |breaker| {
                answer(breaker.call(|| succeed(n)))
            })
        });
    } else {
        list.sync_untold(Case::Closed, US, move |n| {
            answer(breakers[turn(n, breakers.len())].call(|| succeed(n)))
        });
    }
    let mut subject = list.into_one();
    subject.warm = many;
    subject
}
