//! The drill server against a plain blocking client.

use std::time::{Duration, Instant};

use cb_examples::server::{Behaviour, DrillServer};

fn client() -> ureq::Agent {
    ureq::Agent::config_builder()
        .timeout_global(Some(Duration::from_millis(500)))
        .http_status_as_error(false)
        .build()
        .into()
}

#[test]
fn every_behaviour_is_what_it_says() {
    let server = DrillServer::start().unwrap();
    let (agent, url) = (client(), server.url("/stock"));
    let get = || {
        agent
            .get(&url)
            .call()
            .map(|response| response.status().as_u16())
    };

    assert_eq!(get().unwrap(), 200);
    server.switch(Behaviour::Status(503)).unwrap();
    assert_eq!(get().unwrap(), 503);

    server
        .switch(Behaviour::Slow(Duration::from_millis(100)))
        .unwrap();
    let start = Instant::now();
    assert_eq!(get().unwrap(), 200);
    assert!(start.elapsed() >= Duration::from_millis(100));

    server.switch(Behaviour::Hang).unwrap();
    assert!(matches!(get(), Err(ureq::Error::Timeout(_))));
    assert_eq!(server.reached(), 4);
}

#[test]
fn the_port_refuses_and_comes_back() {
    let server = DrillServer::start().unwrap();
    let (agent, url) = (client(), server.url("/stock"));
    for round in 1..=20 {
        assert_eq!(agent.get(&url).call().unwrap().status().as_u16(), 200);
        server.switch(Behaviour::Refused).unwrap();
        server.switch(Behaviour::Refused).unwrap();
        assert!(matches!(
            agent.get(&url).call(),
            Err(ureq::Error::Io(_) | ureq::Error::ConnectionFailed)
        ));
        assert_eq!(server.reached(), round);
        server.switch(Behaviour::Healthy).unwrap();
    }
}
