//! All breakers, or some, out of the way for a while, and back.

use std::collections::HashMap;
use std::sync::Arc;

use super::changing::Configured;
use super::{Registry, write};
use crate::breaker::{CircuitBreaker, Inner};
use crate::config::Mode;
use crate::state::State;
use crate::sync::lock;

/// What is suspended. Behind the lock of who changes the sources.
#[derive(Default)]
pub(super) struct Suspensions {
    /// By the full name of the breaker.
    held: HashMap<String, Held>,
}

/// A breaker that was put into another state.
struct Held {
    mode: Mode,
    /// The number of its stay: with another one, somebody has decided otherwise since.
    stay: u64,
}

impl Registry {
    /// Every breaker out of the way: DISABLED, so that all calls go through and nothing is recorded,
    /// until [`restore_all`](Self::restore_all). For an emergency in which the breakers themselves are
    /// under suspicion. The same as [`disable`](Self::disable) of `"*"`.
    ///
    /// ```
    /// use cb_runtime::{Registry, State};
    ///
    /// let registry = Registry::new();
    /// let (stock, mail) = (registry.get_or_create("stock"), registry.get_or_create("mail"));
    /// mail.force_open(); // by hand: it stays
    /// assert_eq!(registry.disable_all(), ["stock"]);
    /// assert_eq!(registry.get_or_create("later").state(), State::Disabled);
    /// assert_eq!(registry.restore_all(), ["later", "stock"]);
    /// assert_eq!((stock.state(), mail.state()), (State::Closed, State::ForcedOpen));
    /// ```
    pub fn disable_all(&self) -> Vec<String> {
        self.disable("*")
    }

    /// Puts breakers into DISABLED until [`restore`](Self::restore): the one of this name, those of all
    /// keys of a name, or all whose name matches, with `*` for any number of any characters. Breakers
    /// that are made later start so. Returns the names of those that it has changed, sorted.
    ///
    /// Only what the breaker itself decides is suspended: one that is CLOSED, OPEN or HALF_OPEN. One that
    /// somebody, or its `mode`, has put into FORCED_OPEN, DISABLED or METRICS_ONLY stays as it is.
    ///
    /// Of several calls that match a breaker the latest counts. What the breaker knew is gone: it comes
    /// back CLOSED, with an empty window.
    pub fn disable(&self, pattern: &str) -> Vec<String> {
        self.suspend(pattern, Mode::Disabled)
    }

    /// Puts breakers into METRICS_ONLY until [`restore`](Self::restore): all calls go through, outcomes
    /// are recorded and nothing opens. Which ones is as for [`disable`](Self::disable); `"*"` is all.
    pub fn metrics_only(&self, pattern: &str) -> Vec<String> {
        self.suspend(pattern, Mode::MetricsOnly)
    }

    /// Takes all of [`disable`](Self::disable), [`disable_all`](Self::disable_all) and
    /// [`metrics_only`](Self::metrics_only) back: the breakers are CLOSED again, those that were made
    /// meanwhile too. One whose state was changed by hand in the meantime stays as it is. Returns the
    /// names of those that it has changed, sorted.
    pub fn restore_all(&self) -> Vec<String> {
        self.resume(|_| false)
    }

    /// The same for one call: `pattern` is what it was called with. Breakers that an earlier call
    /// matches too go back to that.
    pub fn restore(&self, pattern: &str) -> Vec<String> {
        self.resume(|one| one != pattern)
    }

    /// What is suspended now: patterns and modes, the latest last.
    #[must_use]
    pub fn suspensions(&self) -> Vec<(String, Mode)> {
        super::read(&self.shared.sources).suspensions.clone()
    }

    fn suspend(&self, pattern: &str, mode: Mode) -> Vec<String> {
        self.change_suspensions(|suspensions| {
            suspensions.retain(|(earlier, _)| earlier != pattern);
            suspensions.push((pattern.to_owned(), mode));
        })
    }

    fn resume(&self, stays: impl Fn(&str) -> bool) -> Vec<String> {
        self.change_suspensions(|suspensions| suspensions.retain(|(one, _)| stays(one)))
    }

    fn change_suspensions(&self, change: impl FnOnce(&mut Vec<(String, Mode)>)) -> Vec<String> {
        let (aftermath, changed) = {
            let mut suspended = lock(&self.shared.changing);
            {
                let mut sources = write(&self.shared.sources);
                change(&mut sources.suspensions);
                sources.version += 1;
            }
            // First what later breakers are made of, so that none is made in between and missed.
            let targets = self.configured(|_| true);
            let aftermath = self.refresh(targets);
            let mut changed = Vec::new();
            for target in self.configured(|_| true) {
                changed.extend(self.follow_suspensions(&mut suspended, &target));
            }
            (aftermath, changed)
        };
        // Listeners may use the registry, so they are told when nothing is held.
        changed.iter().for_each(|breaker| breaker.inner.announce());
        aftermath.tell(self);
        let changed = super::by_name(changed);
        changed.iter().map(|one| one.name().to_owned()).collect()
    }

    /// Puts the target's breakers into the state that the suspensions want; returns those that have
    /// changed, which are yet to be announced.
    pub(super) fn follow_suspensions(
        &self,
        suspended: &mut Suspensions,
        target: &Configured,
    ) -> Vec<CircuitBreaker> {
        let mode = super::read(&self.shared.sources).suspension_of(target.name());
        let born = target.layers().settings().mode;
        let breakers = match target {
            Configured::Breaker(breaker) => vec![breaker.clone()],
            Configured::Keys(keys) => keys.all(),
        };
        breakers
            .into_iter()
            .filter(|breaker| suspended.follow(&breaker.inner, mode, born))
            .collect()
    }
}

impl Suspensions {
    /// `mode` is what is wanted, if anything; `born` how a new breaker of this kind would start.
    fn follow(&mut self, breaker: &Arc<Inner>, mode: Option<Mode>, born: Mode) -> bool {
        let name = breaker.name.as_str();
        let held = self.held.get(name);
        let to = match mode {
            Some(Mode::Disabled) => State::Disabled,
            Some(_) => State::MetricsOnly,
            None => State::Closed,
        };
        let stay = breaker.put_if(to, |state, stay| match held {
            Some(held) => held.stay == stay && mode != Some(held.mode),
            // Made while it was suspended, and never touched since.
            None if stay == 1 && state != State::Closed => {
                let suspended = matches!(state, State::Disabled | State::MetricsOnly);
                suspended && state != to && born == mode.unwrap_or_default()
            }
            None => {
                let decides = matches!(state, State::Closed | State::Open | State::HalfOpen);
                mode.is_some() && decides
            }
        });
        match (stay, mode) {
            (Some(stay), Some(mode)) => {
                self.held.insert(name.to_owned(), Held { mode, stay });
            }
            (_, None) => {
                self.held.remove(name);
            }
            (None, Some(_)) => {}
        }
        stay.is_some()
    }
}
