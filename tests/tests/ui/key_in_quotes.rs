use cb_runtime::{CallError, circuit_breaker};

type Error = CallError<()>;

#[circuit_breaker(name = "query", key = "host")]
fn query(mut host: &str) -> Result<usize, Error> {
    host = host.trim();
    Ok(host.len())
}

#[circuit_breaker(name = "braces", key = "{host}")]
fn braces(host: &str) -> Result<usize, Error> {
    Ok(host.len())
}

#[circuit_breaker(name = "ports", key = "{host}:{port}")]
fn ports(host: &str, port: u16) -> Result<u16, Error> {
    let _ = host;
    Ok(port)
}

struct Client {
    host: String,
}

impl Client {
    #[circuit_breaker(name = "method", key = "self.host")]
    async fn method(&self) -> Result<usize, Error> {
        Ok(self.host.len())
    }
}

fn main() {}
