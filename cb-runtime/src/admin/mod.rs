//! The breakers of a registry over HTTP: JSON to read, a live stream, a page to watch them, and
//! operations for those whom the application allows them.
//!
//! It is an axum [`Router`] to nest into the application's own; it opens no port.
//!
//! ```
//! use axum::Router;
//! use cb_runtime::admin::{Admin, WriteRequest};
//!
//! fn may_write(request: &WriteRequest) -> bool {
//!     let given = request.parts().headers.get("authorization");
//!     given.is_some_and(|given| given == "Bearer of-the-operators")
//! }
//!
//! let registry = cb_runtime::registry();
//! let app: Router = Router::new().nest("/breakers", Admin::new(&registry).authorise(may_write).router());
//! // The page is at /breakers/dashboard, the JSON at /breakers/breakers.
//! # drop(app);
//! ```
//!
//! # Reading
//!
//! | route | answer |
//! |---|---|
//! | `GET /breakers` | a [`Snapshot`](crate::Snapshot) of every breaker, sorted by name |
//! | `GET /breakers/{name}` | one, with [`explain`](crate::CircuitBreaker::explain), the chosen settings and recent events |
//! | `GET /breakers/{name}/events` | its recent events, the oldest first |
//! | `GET /breakers/{name}/calls` | its calls as they end, as server-sent events |
//! | `GET /health` | how many breakers are in each state, which of them reject, what is misconfigured |
//! | `GET /events` | all events as server-sent events |
//! | `GET /dashboard` | the page; where the router is nested, `GET /breakers` above, leads to it |
//!
//! Times are seconds on the registry's clock; each answer has the present one as `now`. Everything
//! is open to whoever the application lets through: put its own middleware in front of the router.
//! `/health` answers 200 whatever the breakers do, since an open breaker is no reason to restart
//! the process.
//!
//! A name goes into the path percent-encoded. Names that no path carries safely (empty, `.`, `..`,
//! or with a slash behind a proxy that decodes it) go into the query: `/breaker?name=…`,
//! `/breaker/events?name=…` and so on are the same routes. A request for an unknown name or operation
//! is answered 404 and makes nothing.
//!
//! Nested with `nest`, the router never sees the path with a slash at its end, `/breakers/`: axum
//! answers that 404. `nest_service` passes it on, and it leads to the page as well.
//!
//! # Live
//!
//! In `/events` each event is a message with its JSON and an `id`. A client that reconnects with
//! `Last-Event-ID` gets what it missed. A client that reads too slowly, or was away for too long,
//! is told with `event: dropped` how many events it lost. With `?figures=1` there is also `event:
//! figures` once a second, with the breakers whose figures have changed; the page uses it, and its
//! fields follow the page rather than a promise.
//!
//! While somebody follows `/calls` of a breaker, each of its calls makes an event, which costs the
//! caller about as much as a subscription to [`Interest::CALLS`](crate::Interest::CALLS).
//!
//! # Writing
//!
//! Without an authoriser there are no such routes. With one, `POST
//! /breakers/{name}/{force_open,close,disable,enable,metrics_only,reset}` does what the method of
//! that name does. A request must have the header `x-circuit-breaker-admin`, with whatever value,
//! which another site's page cannot send without the application's consent by CORS; then the
//! authoriser decides. Both refusals are 403.
//!
//! # Bounds
//!
//! Kept in memory: the last 64 events of each breaker, 8192 in all, and the last 256 for each
//! client to catch up with. There are at most 16 live clients, unless
//! [`max_clients`](Admin::max_clients) says otherwise; one more is answered 503.

use std::sync::Arc;

use axum::Router;
use tokio::sync::Semaphore;

use crate::event::Interest;
use crate::listeners::Subscription;
use crate::registry::Registry;

mod access;
mod answer;
mod calls;
mod figures;
mod history;
mod live;
mod messages;
mod name;
mod page;
mod reading;
mod words;
mod writing;

use access::Authoriser;
pub use access::{Operation, WriteRequest};
use figures::Figures;
use history::History;

/// Clients of the streams, unless the application chooses another number.
const DEFAULT_MAX_CLIENTS: usize = 16;

/// Makes the router. See the [module](self) for what it serves.
#[must_use = "nothing is served before `router`"]
pub struct Admin {
    registry: Registry,
    max_clients: usize,
    authoriser: Option<Authoriser>,
}

/// What all requests share.
struct Shared {
    registry: Registry,
    history: Arc<History>,
    figures: Figures,
    clients: Arc<Semaphore>,
    authoriser: Option<Authoriser>,
    _subscription: Subscription,
}

impl Admin {
    /// For the breakers of this registry, to be read only.
    pub fn new(registry: &Registry) -> Self {
        Self {
            registry: registry.clone(),
            max_clients: DEFAULT_MAX_CLIENTS,
            authoriser: None,
        }
    }

    /// Adds the routes that write, for requests that `allow` says `true` to. It is called once for
    /// each such request, after the check of the header, whether there is such a breaker or not.
    ///
    /// For a decision that has to wait, see [`authorise_async`](Self::authorise_async); the later
    /// call of the two wins.
    pub fn authorise(
        mut self,
        allow: impl Fn(&WriteRequest) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.authoriser = Some(Authoriser::sync(allow));
        self
    }

    /// As [`authorise`](Self::authorise), for a decision that has to wait: for a database, or for
    /// whoever issues the tokens.
    ///
    /// ```
    /// use cb_runtime::admin::{Admin, Operation, WriteRequest};
    ///
    /// async fn allow(request: WriteRequest) -> bool {
    ///     // Closing by hand is for those on call.
    ///     let operator = request.parts().headers.get("x-operator");
    ///     operator.is_some() && request.operation() != Operation::Close
    /// }
    ///
    /// let admin = Admin::new(&cb_runtime::registry()).authorise_async(allow);
    /// # drop(admin);
    /// ```
    ///
    /// # Cancel safety
    ///
    /// If the client goes away while the decision is pending, the future is dropped and nothing is
    /// done.
    pub fn authorise_async<F>(
        mut self,
        allow: impl Fn(WriteRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = bool> + Send + 'static,
    {
        self.authoriser = Some(Authoriser::asynchronous(allow));
        self
    }

    /// How many clients may follow `/events` and `/calls` at a time: by default 16; 0 is none.
    pub fn max_clients(mut self, clients: usize) -> Self {
        self.max_clients = clients.min(Semaphore::MAX_PERMITS);
        self
    }

    /// The router. From now on it remembers the events of the registry; that ends when the router
    /// is dropped.
    pub fn router(self) -> Router {
        let history = Arc::new(History::new(self.registry.clock().elapsed()));
        let listener = Arc::clone(&history);
        let subscription = self
            .registry
            .subscribe(Interest::TRANSITIONS, move |event| listener.add(event));
        let shared = Arc::new(Shared {
            figures: Figures::default(),
            clients: Arc::new(Semaphore::new(self.max_clients)),
            authoriser: self.authoriser,
            registry: self.registry,
            history,
            _subscription: subscription,
        });
        let mut router = reading::routes().merge(page::routes());
        if shared.authoriser.is_some() {
            router = router.merge(writing::routes());
        }
        router.with_state(shared)
    }
}

impl std::fmt::Debug for Admin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Admin")
            .field("max_clients", &self.max_clients)
            .field("writing", &self.authoriser.is_some())
            .finish_non_exhaustive()
    }
}
