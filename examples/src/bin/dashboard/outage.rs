//! The servers and what they go through, over and over.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use cb_examples::server::{Behaviour, DrillServer};
use hyper::Uri;

use crate::services::{self, Call};

const SECOND: Duration = Duration::from_secs(1);

/// A server, who calls it, and what it does for how long.
struct Service {
    call: Call,
    callers: u32,
    /// Between two calls of one caller.
    pause: Duration,
    course: &'static [(Behaviour, Duration)],
}

const fn seconds(number: u64) -> Duration {
    Duration::from_secs(number)
}

const INVENTORY: &[(Behaviour, Duration)] = &[
    (Behaviour::Healthy, seconds(6)),
    (Behaviour::Status(503), seconds(5)),
    (Behaviour::Healthy, seconds(9)),
];
const PAYMENTS: &[(Behaviour, Duration)] = &[
    (Behaviour::Healthy, seconds(20)),
    (Behaviour::Slow(Duration::from_millis(500)), seconds(8)),
];
const SEARCH: &[(Behaviour, Duration)] = &[
    (Behaviour::Healthy, seconds(15)),
    (Behaviour::Hang, seconds(10)),
];
const CARRIERS: &[(Behaviour, Duration)] = &[(Behaviour::Healthy, seconds(3600))];
const DEAD: &[(Behaviour, Duration)] = &[(Behaviour::Refused, seconds(3600))];
const BROKEN: &[(Behaviour, Duration)] = &[(Behaviour::Status(500), seconds(3600))];

const SERVICES: [Service; 6] = [
    Service {
        call: services::inventory,
        callers: 8,
        pause: Duration::from_millis(80),
        course: INVENTORY,
    },
    Service {
        call: services::payments,
        callers: 4,
        pause: Duration::from_millis(150),
        course: PAYMENTS,
    },
    Service {
        call: services::search,
        callers: 6,
        pause: Duration::from_millis(200),
        course: SEARCH,
    },
    Service {
        call: services::carriers,
        callers: 3,
        pause: Duration::from_millis(300),
        course: CARRIERS,
    },
    Service {
        call: services::dead_carrier,
        callers: 1,
        pause: Duration::from_millis(500),
        course: DEAD,
    },
    Service {
        call: services::ledger,
        callers: 1,
        pause: Duration::from_millis(400),
        course: BROKEN,
    },
];

/// Starts them all; they stop when the servers are dropped.
pub(crate) fn start() -> io::Result<Vec<Arc<DrillServer>>> {
    SERVICES.iter().map(begin).collect()
}

fn begin(service: &'static Service) -> io::Result<Arc<DrillServer>> {
    let server = Arc::new(DrillServer::start()?);
    let uri: Uri = server.url("/").parse().map_err(io::Error::other)?;
    for number in 0..service.callers {
        let uri = uri.clone();
        tokio::spawn(async move {
            // So that they do not all call at once.
            tokio::time::sleep(service.pause * number / service.callers).await;
            loop {
                (service.call)(number, uri.clone()).await;
                tokio::time::sleep(service.pause).await;
            }
        });
    }
    let weak = Arc::downgrade(&server);
    tokio::spawn(async move {
        for (behaviour, time) in service.course.iter().cycle() {
            let Some(server) = weak.upgrade() else {
                return;
            };
            // A port that could not be had back stays closed until the next change.
            let _ = tokio::task::spawn_blocking(move || server.switch(*behaviour)).await;
            tokio::time::sleep(*time).await;
        }
    });
    Ok(server)
}

/// The wait of most breakers here: short, since somebody is watching.
pub(crate) const WAIT: Duration = seconds(3);
/// A dependency that does not come back is asked ever more rarely.
pub(crate) const LONGEST_WAIT: Duration = seconds(60);
/// The window.
pub(crate) const WINDOW: Duration = SECOND.saturating_mul(10);
