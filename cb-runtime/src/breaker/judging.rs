//! Whether a stay in CLOSED or METRICS_ONLY has reached one of its rules.

use crate::clock::Coarse;
use crate::event::{EventKind, percent};
use crate::policy::{self, Rules, Verdict};
use crate::state::{State, Word};
use crate::window::Counts;

use super::Inner;
use super::stay::{Stay, Wait};

impl Inner {
    /// Returns the number of the OPEN stay that this led to.
    pub(super) fn judge(&self, word: Word, now: Coarse, streak: u32) -> Option<u64> {
        if self.rare.warmup().is_some() && self.is_warming(self.exactly(now)) {
            return None;
        }
        let min_calls = self.limits.min_calls();
        let window = self.window.present();
        let now = if window.needs_time() {
            self.known(now)
        } else {
            now
        };
        let mut estimate = window.estimate(word.stay(), now.at);
        estimate.add_running(self.overdue(word, now));
        let verdict = policy::closed(&self.limits.rules(), &estimate, streak);
        let matters = match word.state() {
            // Opens nothing, and each rate is announced once a stay.
            State::MetricsOnly => self.rare.things().exceeded.is_news(word.stay(), verdict),
            _ => verdict.opens(),
        };
        if matters {
            return self.confirm(word, now, streak);
        }
        if estimate.total >= min_calls {
            window.judged(word.stay(), now.at);
        }
        None
    }

    /// The calls of this stay that are still running past `slow`, with `count_running`.
    fn overdue(&self, word: Word, now: Coarse) -> u32 {
        let Some(hanging) = self.rare.counted() else {
            return 0;
        };
        let running = hanging.now(word.stay(), self.exactly(now));
        running.map_or(0, |running| running.overdue)
    }

    /// Judges again, on figures that hold still, and acts on it.
    #[cold]
    pub(super) fn confirm(&self, word: Word, now: Coarse, streak: u32) -> Option<u64> {
        let opened = {
            let mut stay = self.lock();
            // Somebody else may have ended the stay.
            if self.word() != word {
                return None;
            }
            let window = self.window.present();
            let now = if window.needs_time() {
                self.known(now)
            } else {
                now
            };
            window.freeze(stay.number);
            let mut counts = window.counts(stay.number, now.at);
            counts.add_running(self.overdue(word, now));
            let rules = Rules::of(stay.settings());
            let verdict = policy::closed(&rules, &counts, streak);
            self.publish_exceeded(&stay, verdict, &counts, now);
            if word.state() == State::Closed && verdict.opens() {
                let cause = verdict.cause(stay.settings(), &counts, streak);
                self.transit(
                    &mut stay,
                    State::Open,
                    Wait::Computed,
                    self.exactly(now),
                    cause,
                );
                Some(stay.number)
            } else {
                window.thaw(stay.number);
                None
            }
        };
        self.announce();
        opened
    }

    fn publish_exceeded(&self, stay: &Stay, verdict: Verdict, counts: &Counts, now: Coarse) {
        let at = self.exactly(now);
        let news = self.rare.things().exceeded.announce(stay.number, verdict);
        if news.failure_rate {
            let rate = percent(counts.failed, counts.total);
            self.push(EventKind::FailureRateExceeded { rate }, at, stay.number);
        }
        if news.slow_rate {
            let rate = percent(counts.slow, counts.total);
            self.push(EventKind::SlowRateExceeded { rate }, at, stay.number);
        }
    }
}
