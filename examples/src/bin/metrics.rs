//! A service dies and recovers, and what Prometheus is told of it. With `--serve` it goes on for ever,
//! for a Prometheus that scrapes the address and a Grafana with `cb-runtime/dashboards/grafana.json`.
//!
//! ```sh
//! cargo run -p cb-examples --features metrics --bin metrics
//! ```
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use cb_examples::server::{Behaviour, DrillServer};
use cb_runtime::metrics::Exporter;
use cb_runtime::{CallError, circuit_breaker, registry};
use metrics_exporter_prometheus::PrometheusBuilder;

type Answer = Result<String, CallError<ureq::Error>>;

#[circuit_breaker(
    name = "inventory.query",
    slow = "200ms",
    wait = "1s",
    half_open_calls = 2,
    fallback = cached,
    fallback_on = "failure"
)]
fn query(agent: &ureq::Agent, url: &str) -> Answer {
    let mut answer = agent.get(url).call().map_err(CallError::Failed)?;
    answer
        .body_mut()
        .read_to_string()
        .map_err(CallError::Failed)
}

fn cached(_: &ureq::Agent, _: &str, _: CallError<CallError<ureq::Error>>) -> Answer {
    Ok("11".to_owned())
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let serve = std::env::args().any(|argument| argument == "--serve");
    let address: SocketAddr = ([127, 0, 0, 1], 9464).into();
    let runtime = tokio::runtime::Runtime::new()?;
    let _inside = runtime.enter();
    // Buckets make a histogram of the durations; else it is a summary.
    PrometheusBuilder::new()
        .with_http_listener(address)
        .set_buckets(&[0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0])?
        .install()?;
    let exporter = Exporter::attach(&registry());
    runtime.spawn(exporter.run(Duration::from_secs(1)));
    println!("Prometheus finds the metrics at http://{address}/metrics");

    let server = DrillServer::start()?;
    let (agent, url) = (ureq::Agent::new_with_defaults(), server.url("/stock/42"));
    loop {
        for (behaviour, seconds) in [
            (Behaviour::Healthy, 1),
            (Behaviour::Status(503), 3),
            (Behaviour::Slow(Duration::from_millis(300)), 2),
            (Behaviour::Healthy, 3),
        ] {
            server.switch(behaviour)?;
            let end = Instant::now() + Duration::from_secs(seconds);
            while Instant::now() < end {
                query(&agent, &url)?;
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        if !serve {
            break;
        }
    }
    exporter.refresh();
    let metrics = format!("http://{address}/metrics");
    let text = agent.get(&metrics).call()?.body_mut().read_to_string()?;
    let ours = text
        .lines()
        .filter(|line| line.starts_with("circuit_breaker_"));
    ours.for_each(|line| println!("{line}"));
    Ok(())
}
