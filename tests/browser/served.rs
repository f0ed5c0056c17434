//! The admin routes of a registry of the test's own.

use std::future::IntoFuture as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::Router;
use cb_runtime::admin::Admin;
use cb_runtime::{CircuitBreaker, Config, Registry, Window};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

pub(crate) struct Served {
    pub(crate) registry: Registry,
    address: SocketAddr,
    runtime: Option<Runtime>,
}

impl Served {
    pub(crate) fn start(options: impl Fn(Admin) -> Admin) -> Self {
        Self::at(0, Registry::new(), options)
    }

    pub(crate) fn at(port: u16, registry: Registry, options: impl Fn(Admin) -> Admin) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let listener = runtime
            .block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, port)))
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        let router = options(Admin::new(&registry)).router();
        let app: Router = Router::new().nest("/ops", router);
        runtime.spawn(axum::serve(listener, app).into_future());
        Self {
            registry,
            address,
            runtime: Some(runtime),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Of the page.
    pub(crate) fn page(&self) -> String {
        format!("http://{}/ops/dashboard", self.address)
    }

    /// A breaker that opens at the fourth failure, for long.
    pub(crate) fn breaker(&self, name: &str) -> CircuitBreaker {
        let config = Config::new()
            .window(Window::Calls(20))
            .min_calls(4)
            .half_open_calls(3)
            .wait(Duration::from_secs(600));
        self.registry.create(name, &config).expect("it is valid")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Open streams must not hold the test up.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The expression of a tile's element.
pub(crate) fn tile(name: &str, inside: &str) -> String {
    let name = serde_json::Value::from(name);
    format!(
        "[...document.querySelectorAll('.tile')].find((t) => t.dataset.name === {name})?.querySelector('{inside}')"
    )
}

/// The expression of the state that a tile shows.
pub(crate) fn state(name: &str) -> String {
    format!("{}?.textContent", tile(name, ".state"))
}
