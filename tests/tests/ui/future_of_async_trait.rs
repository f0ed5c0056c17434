use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

use std::future::Future;
use std::pin::Pin;

struct Shop;

// What `#[async_trait]` makes of `async fn query(&self)`.
impl Shop {
    #[circuit_breaker(name = "query")]
    fn query<'life0, 'async_trait>(
        &'life0 self,
    ) -> Pin<Box<dyn Future<Output = Result<u32, Error>> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move { Ok(1) })
    }
}

fn main() {}
