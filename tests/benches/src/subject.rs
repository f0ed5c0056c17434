//! One way of making guarded calls in one case.

use std::fmt;
use std::future::Future;
use std::hint::black_box;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};

use crate::answer::{Answer, Seen};
use crate::case::Case;
use crate::work::reached;

/// How our breaker is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Through {
    /// An annotated function.
    Attribute,
    /// `CircuitBreaker::call` or `call_async`.
    Call,
}

/// Whose calls are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// No breaker at all: something to compare with.
    Baseline(&'static str),
    /// Ours.
    Ours(Through),
    /// Another crate's breaker.
    Rival(&'static str),
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Baseline(name) | Self::Rival(name) => name,
            Self::Ours(Through::Attribute) => "ours, attribute",
            Self::Ours(Through::Call) => "ours, call",
        })
    }
}

type Run = Box<dyn Fn(u64) -> Seen + Send + Sync>;
type State = Box<dyn Fn() -> String + Send + Sync>;

/// One way of making guarded calls in one case.
pub struct Subject {
    /// The case; a baseline has the one that it is shown with.
    pub case: Case,
    /// Whose calls they are.
    pub who: Who,
    /// So many calls reach all that there is to reach once.
    pub warm: u64,
    run: Run,
    state: Option<State>,
}

impl Subject {
    /// Makes so many calls, numbered from 0.
    #[must_use]
    pub fn run(&self, calls: u64) -> Seen {
        (self.run)(calls)
    }

    /// Makes calls on this thread and checks what the case promises.
    ///
    /// # Errors
    ///
    /// What was different, in words.
    pub fn check(&self, calls: u64) -> Result<(), String> {
        if matches!(self.who, Who::Baseline(_)) {
            let _ = self.run(calls);
            return Ok(());
        }
        let before = reached();
        let seen = self.run(calls);
        self.check_seen(calls, seen)?;
        let ran = reached() - before;
        if ran > 0 {
            return Err(self.complaint(&format!("ran {ran} calls that it refused")));
        }
        self.check_state()
    }

    /// Whether these are the answers that the case promises.
    pub(crate) fn check_seen(&self, calls: u64, seen: Seen) -> Result<(), String> {
        if matches!(self.who, Who::Baseline(_)) {
            return Ok(());
        }
        let expected = self.case.expected(calls);
        if seen == expected {
            Ok(())
        } else {
            Err(self.complaint(&format!("answered {seen:?}, expected {expected:?}")))
        }
    }

    /// Whether the breaker is in the state that the case promises.
    pub(crate) fn check_state(&self) -> Result<(), String> {
        let state = self.state.as_ref().map(|state| state());
        match state {
            Some(state) if state != self.case.state() => {
                Err(self.complaint(&format!("is {state}, expected {}", self.case.state())))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn complaint(&self, what: &str) -> String {
        format!("{}, {}: {what}", self.who, self.case.label())
    }
}

/// The subjects, as they are made.
#[derive(Default)]
pub struct List(Vec<Subject>);

impl List {
    /// Adds calls of a plain function. `state` is asked after the calls.
    pub(crate) fn sync(
        &mut self,
        case: Case,
        who: Who,
        call: impl Fn(u64) -> Answer + Send + Sync + 'static,
        state: impl Fn() -> String + Send + Sync + 'static,
    ) {
        self.push(case, who, Box::new(calls(call)), Some(Box::new(state)));
    }

    /// The same for what does not tell its state.
    pub(crate) fn sync_untold(
        &mut self,
        case: Case,
        who: Who,
        call: impl Fn(u64) -> Answer + Send + Sync + 'static,
    ) {
        self.push(case, who, Box::new(calls(call)), None);
    }

    /// Adds calls of an async function, made on a current-thread runtime.
    pub(crate) fn asynchronous(
        &mut self,
        case: Case,
        who: Who,
        call: impl AsyncFn(u64) -> Answer + Send + Sync + 'static,
        state: impl Fn() -> String + Send + Sync + 'static,
    ) {
        self.push(case, who, Box::new(futures(call)), Some(Box::new(state)));
    }

    /// The same for what does not tell its state.
    pub(crate) fn asynchronous_untold(
        &mut self,
        case: Case,
        who: Who,
        call: impl AsyncFn(u64) -> Answer + Send + Sync + 'static,
    ) {
        self.push(case, who, Box::new(futures(call)), None);
    }

    pub(crate) fn push(&mut self, case: Case, who: Who, run: Run, state: Option<State>) {
        self.0.push(Subject {
            case,
            who,
            warm: case.breakers(),
            run,
            state,
        });
    }

    /// The only one.
    pub(crate) fn into_one(mut self) -> Subject {
        self.0.pop().expect("it was added")
    }

    pub(crate) fn into_subjects(self) -> Vec<Subject> {
        self.0
    }
}

fn calls(call: impl Fn(u64) -> Answer + Send + Sync + 'static) -> impl Fn(u64) -> Seen {
    move |calls| {
        let mut seen = Seen::default();
        for n in 0..calls {
            seen.add(call(n));
        }
        seen
    }
}

fn futures(call: impl AsyncFn(u64) -> Answer + Send + Sync + 'static) -> impl Fn(u64) -> Seen {
    let call = Arc::new(call);
    move |calls| {
        let call = &*call;
        block_on(async move {
            let mut seen = Seen::default();
            for n in 0..calls {
                seen.add(call(n).await);
            }
            seen
        })
    }
}

thread_local! {
    static RUNTIME: Runtime = Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime without I/O needs nothing that could be missing");
}

/// Runs a future on this thread's runtime.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    RUNTIME.with(|runtime| runtime.block_on(future))
}

/// Begins a call that never ends: polls it once and keeps it for good.
#[cfg(feature = "rivals")]
pub(crate) fn begin(call: impl Future + 'static) {
    use std::task::{Context, Waker};

    let mut call = Box::pin(call);
    block_on(async {
        let _ = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    });
    std::mem::forget(call);
}

/// The answer of a call whose error tells by itself whether it is a rejection. Both have to be made
/// in full, as for a caller that looks at them. They are looked at where the call has put them: what a move to
/// another place takes is not the breaker's, and can be as much as all the rest, since a load that is wider
/// than the stores before it waits until they are done.
#[inline]
pub(crate) fn answer<E>(result: Result<u64, E>, rejected: impl FnOnce(&E) -> bool) -> Answer {
    match &result {
        Ok(value) => {
            black_box(*value);
            Answer::Ok
        }
        Err(error) => {
            let answer = if rejected(error) {
                Answer::Rejected
            } else {
                Answer::Failed
            };
            black_box(error);
            answer
        }
    }
}
