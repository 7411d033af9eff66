//! A client below HTTP: for what no proper client sends, and for slow ones.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::client::timely;

/// A connection to write bytes on.
pub struct Raw(TcpStream);

impl Raw {
    /// Connects.
    pub async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("the gateway accepts connections");
        stream.set_nodelay(true).expect("a TCP connection");
        Self(stream)
    }

    /// Sends bytes; that nobody reads them any more is no failure, the answer tells.
    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.0.write_all(bytes.as_ref()).await;
    }

    /// Reads until `end` has come, or the connection is closed; what was read.
    pub async fn read_until(&mut self, end: &str) -> String {
        let mut read = Vec::new();
        let mut piece = [0; 4096];
        while !String::from_utf8_lossy(&read).contains(end) {
            match timely(self.0.read(&mut piece)).await {
                Ok(0) | Err(_) => break,
                Ok(length) => read.extend_from_slice(&piece[..length]),
            }
        }
        String::from_utf8_lossy(&read).into_owned()
    }

    /// Reads until the gateway closes the connection.
    pub async fn read_to_end(&mut self) -> String {
        self.read_until("\u{0}never\u{0}").await
    }

    /// Reads what comes within `time`.
    pub async fn read_for(&mut self, time: Duration) -> String {
        let mut read = Vec::new();
        let mut piece = [0; 4096];
        while let Ok(Ok(length @ 1..)) = tokio::time::timeout(time, self.0.read(&mut piece)).await {
            read.extend_from_slice(&piece[..length]);
        }
        String::from_utf8_lossy(&read).into_owned()
    }
}
