//! A real HTTP server on loopback that can be told to misbehave while it runs.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc as blocking};
use std::thread;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The number in every answer of the server.
pub const PIECES: u32 = 12;

/// What the server does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Answers 200 at once.
    Healthy,
    /// Answers at once with this status.
    Status(u16),
    /// Answers 200 after this time.
    Slow(Duration),
    /// Accepts the connection, reads the request and never answers.
    Hang,
    /// Nobody listens on the port, and the open connections are gone.
    Refused,
}

/// The server, on a thread of its own. It stops when this is dropped.
#[derive(Debug)]
pub struct DrillServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    switches: mpsc::UnboundedSender<Switch>,
}

#[derive(Debug)]
struct Shared {
    behaviour: Mutex<Behaviour>,
    reached: AtomicU64,
}

/// A change of behaviour, and where to say that it is done.
type Switch = (Behaviour, blocking::Sender<io::Result<()>>);

impl DrillServer {
    /// Starts a healthy server on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// When there is no free port, or no thread to be had.
    pub fn start() -> io::Result<Self> {
        let shared = Arc::new(Shared {
            behaviour: Mutex::new(Behaviour::Healthy),
            reached: AtomicU64::new(0),
        });
        let (switches, orders) = mpsc::unbounded_channel();
        let (started, address) = blocking::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let server = Arc::clone(&shared);
        thread::Builder::new()
            .name("drill-server".into())
            .spawn(move || {
                runtime.block_on(async {
                    let port = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
                        .and_then(|socket| socket.listen(BACKLOG));
                    match port.and_then(|listener| Ok((listener.local_addr()?, listener))) {
                        Ok((address, listener)) => {
                            _ = started.send(Ok(address));
                            serve(address, listener, server, orders).await;
                        }
                        Err(error) => _ = started.send(Err(error)),
                    }
                });
            })?;
        let address = address.recv().map_err(io::Error::other)??;
        Ok(Self {
            address,
            shared,
            switches,
        })
    }

    /// Where it listens. The port stays the same through [`Behaviour::Refused`].
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of a resource, `path` starting with a slash.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// How many requests have reached the server since its start, whatever became of them.
    #[must_use]
    pub fn reached(&self) -> u64 {
        self.shared.reached.load(Ordering::Relaxed)
    }

    /// The same figure for those that outlive a borrow of the server.
    pub fn reached_counter(&self) -> impl Fn() -> u64 + Send + Sync + 'static {
        let shared = Arc::clone(&self.shared);
        move || shared.reached.load(Ordering::Relaxed)
    }

    /// Changes the behaviour. When this returns, the next request meets it; requests that the
    /// server has already read keep theirs.
    ///
    /// # Errors
    ///
    /// When the port could not be had back after [`Behaviour::Refused`].
    pub fn switch(&self, behaviour: Behaviour) -> io::Result<()> {
        let (done, answer) = blocking::channel();
        self.switches
            .send((behaviour, done))
            .map_err(io::Error::other)?;
        answer.recv().map_err(io::Error::other)?
    }
}

/// Connections that the kernel completes while the server has not accepted them yet.
const BACKLOG: u32 = 1024;

/// The port is ours in both states; only in the first one does anybody listen.
enum Port {
    Open(TcpListener),
    Closed(TcpSocket),
}

async fn serve(
    address: SocketAddr,
    listener: TcpListener,
    shared: Arc<Shared>,
    mut orders: mpsc::UnboundedReceiver<Switch>,
) {
    let mut port = Some(Port::Open(listener));
    let mut connections = JoinSet::new();
    loop {
        let order = match &port {
            Some(Port::Open(listener)) => tokio::select! {
                order = orders.recv() => order,
                accepted = listener.accept() => {
                    // An error here is one connection that broke before it was accepted.
                    if let Ok((stream, _)) = accepted {
                        connections.spawn(converse(stream, Arc::clone(&shared)));
                    }
                    continue;
                }
                Some(_) = connections.join_next() => continue,
            },
            _ => orders.recv().await,
        };
        let Some((behaviour, done)) = order else {
            return;
        };
        *shared
            .behaviour
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = behaviour;
        if behaviour == Behaviour::Refused {
            connections.shutdown().await;
        }
        let moved = turn(port.take(), behaviour, address).await;
        _ = done.send(moved.map(|next| port = Some(next)));
    }
}

/// Opens or closes the port as `behaviour` wants it.
async fn turn(port: Option<Port>, behaviour: Behaviour, address: SocketAddr) -> io::Result<Port> {
    match (port, behaviour) {
        (Some(Port::Open(listener)), Behaviour::Refused) => {
            drop(listener);
            closed(address).await.map(Port::Closed)
        }
        (Some(Port::Closed(socket)), behaviour) if behaviour != Behaviour::Refused => {
            socket.listen(BACKLOG).map(Port::Open)
        }
        (Some(port), _) => Ok(port),
        // A switch before this one lost the port.
        (None, Behaviour::Refused) => closed(address).await.map(Port::Closed),
        (None, _) => closed(address).await?.listen(BACKLOG).map(Port::Open),
    }
}

/// A socket that owns the port without listening: clients are refused, and no other process can
/// take the port in the meantime.
async fn closed(address: SocketAddr) -> io::Result<TcpSocket> {
    // The kernel may need a moment to let go of the listener.
    for _ in 0..100 {
        if let Ok(socket) = bind(address) {
            return Ok(socket);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    bind(address)
}

fn bind(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    // Closed connections linger on the port for a minute; they are no reason not to have it.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(move |_request| answer(Arc::clone(&shared)));
    // An error is a client that hung up, which is what clients with a timeout do.
    _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn answer(shared: Arc<Shared>) -> Result<Response<Full<Bytes>>, Infallible> {
    shared.reached.fetch_add(1, Ordering::Relaxed);
    let behaviour = *shared
        .behaviour
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let status = match behaviour {
        Behaviour::Healthy => StatusCode::OK,
        Behaviour::Status(code) => {
            StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
        }
        Behaviour::Slow(time) => {
            tokio::time::sleep(time).await;
            StatusCode::OK
        }
        Behaviour::Hang | Behaviour::Refused => std::future::pending().await,
    };
    let mut response = Response::new(Full::new(PIECES.to_string().into()));
    *response.status_mut() = status;
    Ok(response)
}
