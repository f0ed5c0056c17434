use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

struct Client;

impl Client {
    const MIN: u32 = 20;

    #[circuit_breaker(name = "query", min_calls = Self::MIN)]
    fn query(&self) -> Result<u32, Error> {
        Ok(1)
    }
}

fn main() {
    let _ = Client.query();
}
