//! A service dies and recovers, and what the log says of it: one line for each transition, and no
//! flood of rejections.
//!
//! ```sh
//! cargo run -p cb-examples --features logs --bin logs
//! RUST_LOG=cb_runtime=debug cargo run -p cb-examples --features logs --bin logs
//! ```

use std::error::Error;
use std::time::{Duration, Instant};

use cb_examples::server::{Behaviour, DrillServer};
use cb_runtime::{CallError, circuit_breaker, registry};
use tracing_subscriber::EnvFilter;

#[circuit_breaker(
    name = "inventory.query",
    slow = "200ms",
    wait = "2s",
    half_open_calls = 2
)]
fn query(agent: &ureq::Agent, url: &str) -> Result<String, CallError<ureq::Error>> {
    let mut answer = agent.get(url).call().map_err(CallError::Failed)?;
    answer
        .body_mut()
        .read_to_string()
        .map_err(CallError::Failed)
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).init();
    // Every 10 s if this is not called.
    registry().log_rejections_every(Duration::from_secs(1));

    let server = DrillServer::start()?;
    let (agent, url) = (ureq::Agent::new_with_defaults(), server.url("/stock/42"));
    for (behaviour, seconds) in [
        (Behaviour::Healthy, 1),
        (Behaviour::Status(503), 5),
        (Behaviour::Healthy, 3),
    ] {
        server.switch(behaviour)?;
        let end = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < end {
            let _ = query(&agent, &url);
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    Ok(())
}
