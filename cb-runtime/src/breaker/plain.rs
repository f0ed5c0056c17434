//! The short ways of calls in CLOSED that are not measured and that nobody watches.

use crate::clock::Coarse;
use crate::outcome::Mark;
use crate::policy;
use crate::state::Word;
use crate::watch;
use crate::window::{Base, Quickly, Recorded};

use super::Inner;
use super::ticket::Ticket;

impl Inner {
    /// Takes a success that needs neither a judgement nor anybody to be told, and returns whether it was
    /// one. Most leave everything as it is.
    #[inline]
    pub(crate) fn finish_at_once(&self, ticket: Ticket) -> bool {
        if ticket.is_measured() {
            return self.finish_calmly(ticket);
        }
        watch::nobody()
            && (self.calm.covers(ticket.word, false) || self.finish_plainly(ticket.word))
    }

    /// Takes a success in CLOSED that needs neither the clock nor a judgement, and returns whether it
    /// was one. Nobody watches. Calls others last, if at all: so there is nothing to keep for afterwards.
    #[inline(never)]
    pub(super) fn finish_plainly(&self, stay: Word) -> bool {
        if !stay.is_closed() || !self.limits.flags().plain() {
            return false;
        }
        // Before the word: see `Present`.
        let Some((window, version)) = self.window.first_of_calls() else {
            return false;
        };
        if self.word() != stay {
            return false;
        }
        let base = Base::of(stay.stay().wrapping_add(version));
        match window.record_success_quickly(base, self.limits.min_calls()) {
            Quickly::Harmless => {
                self.streak.end(stay.stay());
                true
            }
            Quickly::Clean => self.finish_recorded(stay, Recorded::Clean),
            Quickly::Claimed(claimed) => self.finish_claimed(stay, base, claimed),
            Quickly::Refused => self.finish_in_ring(stay, base),
        }
    }

    /// Where the ring begins, fills up or is folded.
    #[inline(never)]
    fn finish_in_ring(&self, stay: Word, base: Base) -> bool {
        let Some((window, _)) = self.window.first_of_calls() else {
            return false;
        };
        match window.record_success(base, self.limits.min_calls()) {
            // It has not recorded anything.
            Recorded::Late | Recorded::Frozen => false,
            recorded => self.finish_recorded(stay, recorded),
        }
    }

    #[inline(never)]
    fn finish_claimed(&self, stay: Word, base: Base, claimed: u32) -> bool {
        let recorded = match self.window.first_of_calls() {
            Some((window, _)) => window.put_success(base, claimed),
            // Another one has taken its place.
            None => Recorded::Displaced,
        };
        self.finish_recorded(stay, recorded)
    }

    /// After a success was recorded.
    #[inline(never)]
    fn finish_recorded(&self, stay: Word, recorded: Recorded) -> bool {
        let flags = self.limits.flags();
        let recorded = match recorded {
            Recorded::Displaced if !self.amend(stay, Mark::SUCCESS, None) => return true,
            // The window that took its place has it as what it is.
            Recorded::Displaced => Recorded::Counted,
            recorded => recorded,
        };
        let _ = self.recorded(stay, Mark::SUCCESS, recorded, flags, Coarse::UNKNOWN);
        true
    }

    /// Takes a failure in CLOSED that needs no clock, and returns what [`finish`](Self::finish) does;
    /// `None` if it was not recorded.
    #[inline]
    pub(crate) fn fail_at_once(&self, ticket: Ticket) -> Option<Option<u64>> {
        const FAILED: Mark = Mark::of(true, false);
        let stay = ticket.word;
        if ticket.is_measured()
            || !stay.is_closed()
            || !self.limits.flags().plain()
            || !watch::nobody()
        {
            return None;
        }
        // Before the word: see `Present`.
        let (window, version) = self.window.first_of_calls()?;
        if self.word() != stay {
            return None;
        }
        match window.record(stay.stay().wrapping_add(version), FAILED, 0) {
            Recorded::Late | Recorded::Frozen => return None,
            Recorded::Displaced if !self.amend(stay, FAILED, None) => return Some(None),
            _ => {}
        }
        let streak = self.note(stay, FAILED);
        let estimate = self.window.present().estimate(stay.stay(), 0);
        let opens = policy::closed(&self.limits.rules(), &estimate, streak).opens();
        Some(if opens {
            self.confirm(stay, Coarse::UNKNOWN, streak)
        } else {
            None
        })
    }
}
