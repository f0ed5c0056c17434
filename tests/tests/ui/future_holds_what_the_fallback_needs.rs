use std::future::Future;
use std::pin::Pin;

use cb_runtime::{CallError, circuit_breaker};

struct Shop(u32);

impl Shop {
    #[circuit_breaker(name = "query", fallback = Self::cached, fallback_on = "failure")]
    fn query(&mut self) -> Pin<Box<dyn Future<Output = Result<u32, String>> + '_>> {
        let stock = self.0;
        Box::pin(async move { Ok(stock) })
    }

    fn cached(&mut self, _: CallError<String>) -> Result<u32, String> {
        Ok(0)
    }
}

fn main() {}
