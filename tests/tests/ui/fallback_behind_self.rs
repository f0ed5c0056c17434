use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

struct Client;

impl Client {
    #[circuit_breaker(name = "query", fallback = self.cached)]
    fn query(&self) -> Result<u32, Error> {
        Ok(1)
    }

    #[circuit_breaker(name = "called", fallback = self.cached())]
    fn called(&self) -> Result<u32, Error> {
        Ok(1)
    }
}

fn main() {}
