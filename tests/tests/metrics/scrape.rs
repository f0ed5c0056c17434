//! The exporter, and a client that reads it.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use cb_runtime::metrics::Options;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusRecorder};
use metrics_util::MetricKindMask;
use tokio::runtime::Runtime;

/// An exporter of its own for each test, which listens on loopback.
pub(crate) struct Prometheus {
    pub(crate) recorder: Arc<PrometheusRecorder>,
    address: SocketAddr,
    _runtime: Runtime,
}

/// Series by name and labels, the labels in the order of the alphabet.
pub(crate) type Series = BTreeMap<String, f64>;

/// What is not updated for `idle` is dropped.
pub(crate) fn prometheus(idle: Option<Duration>) -> Prometheus {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let _inside = runtime.enter();
    // Another program may take the port in between.
    for _ in 0..100 {
        let address = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let builder = PrometheusBuilder::new()
            .with_http_listener(address)
            .set_buckets(&[0.05, 0.5, 5.0])
            .unwrap()
            .idle_timeout(MetricKindMask::ALL, idle);
        if let Ok((recorder, listening)) = builder.build() {
            runtime.spawn(listening);
            return Prometheus {
                recorder: Arc::new(recorder),
                address,
                _runtime: {
                    drop(_inside);
                    runtime
                },
            };
        }
    }
    panic!("no port is free");
}

impl Prometheus {
    pub(crate) fn options(&self) -> Options {
        let recorder = Arc::clone(&self.recorder);
        Options::new().recorder(recorder)
    }

    /// The text as Prometheus gets it.
    pub(crate) fn text(&self) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        body.to_owned()
    }

    pub(crate) fn scrape(&self) -> Series {
        let text = self.text();
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines
            .map(|line| {
                let (series, value) = line.rsplit_once(' ').unwrap();
                (sorted(series), value.parse().unwrap())
            })
            .collect()
    }

    /// Those of one breaker, without its name.
    pub(crate) fn of(&self, name: &str) -> Series {
        let label = format!("name=\"{name}\"");
        let all = self.scrape().into_iter();
        all.filter(|(series, _)| series.contains(&label))
            .map(|(series, value)| {
                let series = series.replace(&label, "").replace(",,", ",");
                let series = series
                    .replace("{,", "{")
                    .replace(",}", "}")
                    .replace("{}", "");
                (series, value)
            })
            .collect()
    }
}

fn sorted(series: &str) -> String {
    let Some((name, labels)) = series.strip_suffix('}').and_then(|it| it.split_once('{')) else {
        return series.to_owned();
    };
    // No label of these tests has a comma in it.
    let mut labels: Vec<_> = labels.split(',').collect();
    labels.sort_unstable();
    format!("{name}{{{}}}", labels.join(","))
}

/// For messages that can be read: one series a line.
pub(crate) fn lines(series: &Series) -> String {
    let line = |(series, value): (&String, &f64)| format!("{series} {value}\n");
    series.iter().map(line).collect()
}
