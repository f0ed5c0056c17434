use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

struct Client;

impl Client {
    #[circuit_breaker(name = "query", fallback = Self::query)]
    fn query(&self) -> Result<u32, Error> {
        Ok(1)
    }
}

fn main() {
    let _ = Client.query();
}
