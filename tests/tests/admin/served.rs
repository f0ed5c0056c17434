//! The admin router on a real port, nested as in an application.

use std::future::IntoFuture as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::Router;
use cb_runtime::admin::Admin;
use cb_runtime::testing::TestClock;
use cb_runtime::{CircuitBreaker, Config, Registry, Window};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::http::{Events, Response, get, send};

/// A registry on a test clock, and its admin routes under `/ops`.
pub(crate) struct Served {
    pub(crate) registry: Registry,
    pub(crate) clock: TestClock,
    pub(crate) address: SocketAddr,
    _runtime: Runtime,
}

impl Served {
    pub(crate) fn read_only() -> Self {
        Self::with(|admin| admin)
    }

    pub(crate) fn with(options: impl FnOnce(Admin) -> Admin) -> Self {
        let clock = TestClock::new();
        Self::of(&Registry::with_clock(&clock), clock, options)
    }

    pub(crate) fn of(
        registry: &Registry,
        clock: TestClock,
        options: impl FnOnce(Admin) -> Admin,
    ) -> Self {
        let router = options(Admin::new(registry)).router();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let listener = runtime
            .block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        let app: Router = Router::new()
            .nest("/ops", router.clone())
            .nest_service("/service", router);
        runtime.spawn(axum::serve(listener, app).into_future());
        Self {
            registry: registry.clone(),
            clock,
            address,
            _runtime: runtime,
        }
    }

    /// A breaker that opens at the fourth failure.
    pub(crate) fn breaker(&self, name: &str) -> CircuitBreaker {
        let config = Config::new()
            .window(Window::Calls(4))
            .min_calls(4)
            .half_open_calls(2)
            .wait(Duration::from_secs(10));
        self.registry.create(name, &config).expect("it is valid")
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        get(self.address, &format!("/ops{path}"))
    }

    pub(crate) fn post(&self, path: &str, headers: &[&str]) -> Response {
        send(self.address, "POST", &format!("/ops{path}"), headers)
    }

    pub(crate) fn follow(&self, path: &str) -> Events {
        self.try_follow(path, &[]).expect("a stream")
    }

    pub(crate) fn try_follow(&self, path: &str, headers: &[&str]) -> Result<Events, u16> {
        Events::open(self.address, &format!("/ops{path}"), headers)
    }
}
