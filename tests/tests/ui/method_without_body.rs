use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

trait Service {
    #[circuit_breaker(name = "query")]
    fn query(&self) -> Result<u32, Error>;
}

fn main() {}
