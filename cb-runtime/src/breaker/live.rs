//! Another configuration while calls are under way.

use std::sync::Arc;

use crate::clock::Nanos;
use crate::event::Cause;
use crate::layers::Layers;
use crate::policy;
use crate::state::{State, Word};
use crate::sync::Ordering;
use crate::window::Shape;

use super::Inner;
use super::stay::Stay;

impl Inner {
    /// Puts another configuration in force. State, stay, calls in flight, the row of failures and
    /// what the window holds stay as they are; the limits apply from the next outcome on. An OPEN
    /// stay gets the new wait, counted from its entry, unless somebody named its wait. A HALF_OPEN
    /// stay ends under the configuration that it began with. `mode` has had its say.
    ///
    /// The caller announces, once it holds nothing.
    pub(crate) fn reconfigure(&self, layers: Arc<Layers>) {
        let mut stay = self.lock();
        let now = self.clock.now();
        self.settle(&mut stay, now);
        let before = std::mem::replace(&mut stay.layers, layers);
        let own = Arc::clone(&before);
        if stay.attempt > 0 {
            stay.wait = policy::wait_of(stay.layers.settings(), stay.attempt);
        }
        match self.word().state() {
            State::HalfOpen => {
                stay.probing.get_or_insert(own);
            }
            State::Open => self.change_wait(&mut stay, now),
            _ => {}
        }
        let settings = stay.layers.settings();
        if matches!(self.word().state(), State::Closed | State::MetricsOnly) {
            self.shape_window(&stay, Some(stay.number));
        }
        self.rare.set(settings);
        self.limits.change(settings, &self.clock);
        self.window.present().not_judged();
        self.calm.end();
        self.begin_admitting(self.word());
        // After the limits: a call that was admitted by the earlier ones has begun before this.
        let slow = settings.slow.filter(|_| settings.count_running);
        if slow.is_some() || self.rare.hanging().is_some() {
            let hanging = &self.rare.things().hanging;
            hanging.change(slow, stay.number, self.birth, &self.clock);
        }
        let warmup = |layers: &Layers| layers.settings().warmup;
        self.change_warmup(&mut stay, warmup(&before), now);
        // Relaxed: as in `transit`.
        self.unannounced.store(true, Ordering::Relaxed);
    }

    /// Gives the window the shape that the configuration in force wants. Of a stay that goes on a count
    /// window keeps the newest outcomes. While nothing is recorded the window stays as it is, to be
    /// shown; the next stay that records begins with the new one.
    pub(super) fn shape_window(&self, stay: &Stay, keep: Option<u64>) {
        let settings = stay.layers.settings();
        let window = self.window.present();
        if window.shape() == Shape::of(settings) {
            if settings.slow.is_some() {
                self.window.expect_slow();
            }
            return;
        }
        if let Some(number) = keep {
            window.freeze(number);
            self.calm.end();
        }
        self.window.reshape(settings, keep, self.birth, self.shards);
    }

    /// In OPEN: the wait that the stay would have had under the present configuration.
    fn change_wait(&self, stay: &mut Stay, now: Nanos) {
        let Some(draw) = stay.draw else { return };
        let settings = stay.layers.settings();
        let cause = stay.opened.unwrap_or(Cause::Manual);
        let served = policy::served_wait(settings, stay.wait, stay.failed_stays, cause, draw);
        // Not before now: a wait that would have been over ends with the next call.
        stay.served_wait = served.max(now.saturating_sub(stay.entered));
        self.store_deadline(stay);
    }

    /// A warm-up that is going on lasts as long as the new one; one that is turned off ends. A new one
    /// begins with the first call, and so only where nothing was recorded yet.
    fn change_warmup(&self, stay: &mut Stay, before: Option<Nanos>, now: Nanos) {
        let after = stay.layers.settings().warmup;
        if before == after {
            return;
        }
        let end = match (self.warm_at(), after) {
            (Nanos::MAX, Some(_)) if self.is_untouched(stay, now) => 0,
            (Nanos::MAX, _) | (0, None) => Nanos::MAX,
            (0, Some(_)) => 0,
            (end, after) => {
                let began = end.saturating_sub(before.unwrap_or_default());
                began
                    .saturating_add(after.unwrap_or_default())
                    .max(now)
                    .max(1)
            }
        };
        // Relaxed: who must not miss it looks again under the lock.
        self.rare.things().warm_at.store(end, Ordering::Relaxed);
        self.settle(stay, now);
    }

    fn is_untouched(&self, stay: &Stay, now: Nanos) -> bool {
        stay.number == 1
            && self.window.present().counts(stay.number, now).total == 0
            && self.streak.failures(stay.number) == 0
    }

    /// The deadline of an OPEN stay whose wait has changed.
    pub(super) fn store_deadline(&self, stay: &Stay) {
        let word = Word::open(self.birth, stay.entered, stay.served_wait);
        // Relaxed: OPEN needs nothing but what is in the word.
        self.word.store(word.raw(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
