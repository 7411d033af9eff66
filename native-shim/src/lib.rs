//! The native host: the ports again, under the same names, and what only a process has: sockets, files, signals, a
//! command line. It holds no route and decides nothing about the product.

pub mod cli;
pub mod database;
pub mod fetch;
pub mod first_start;
pub mod instance;
pub mod isolate;
pub mod local;
pub mod log;
pub mod manage;
pub mod master_key;
pub mod server;
