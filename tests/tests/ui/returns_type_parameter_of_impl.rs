use std::marker::PhantomData;

use cb_runtime::circuit_breaker;

struct Client<Reply>(PhantomData<Reply>);

impl<Reply: Default> Client<Reply> {
    #[circuit_breaker(name = "query", fallback = Self::cached)]
    fn query(&self) -> Reply {
        Reply::default()
    }

    fn cached(&self) -> Reply {
        Reply::default()
    }
}

fn main() {}
