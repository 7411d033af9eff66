//! A thread with a core of its own: it accepts connections and serves them until it is told to stop.

use std::cell::RefCell;
use std::net::TcpListener;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::OptionFuture;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::sync::watch;

use crate::cli::Failure;
use crate::instance::{Parts, Shared};
use crate::server::{OpenConnections, Server};

/// The pause after the system has refused a connection, for want of file descriptors for instance.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Runs an isolate on the current thread.
pub fn run(shared: &Shared, listener: TcpListener, stopped: watch::Receiver<bool>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default())?;
    runtime.block_on(async {
        let Parts { gateway, scope, fetch, tasks } = shared.assemble()?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (gateway, scope) = (Rc::new(gateway), Rc::new(scope));
        let poll_interval = Duration::from_secs(shared.options.poll_seconds.get());
        let poll = tokio::task::spawn_local({
            let (gateway, scope) = (gateway.clone(), scope.clone());
            async move {
                let mut interval = tokio::time::interval(poll_interval);
                loop {
                    interval.tick().await;
                    fetch.sweep();
                    if let Err(error) = gateway.handle.tick(&scope, vec![]).await {
                        tracing::error!(%error, "the configuration could not be checked");
                    }
                }
            }
        });
        let server = Server::new(gateway, scope, &shared.options);
        let open: OpenConnections = Rc::new(RefCell::new(Some(GracefulShutdown::new())));
        accept(&server, &listener, &open, stopped).await;
        drop(listener);
        poll.abort();
        let limit = Duration::from_secs(shared.options.shutdown_timeout_seconds);
        let finished = open.take().map(GracefulShutdown::shutdown);
        if tokio::time::timeout(limit, OptionFuture::from(finished)).await.is_err() {
            tracing::warn!("answers were still under way at the end and are cut off");
        }
        // What is left is dropped now, so that its settlements are among those that are waited for.
        server.drop_connections().await;
        let _ = tokio::time::timeout(limit, tasks.all_ended()).await;
        Ok(())
    })
}

async fn accept(
    server: &Server,
    listener: &tokio::net::TcpListener,
    open: &OpenConnections,
    mut stopped: watch::Receiver<bool>,
) {
    loop {
        tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => server.serve(stream, open),
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}
