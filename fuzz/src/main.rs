//! Throws damaged bytes at everything that reads what others wrote.
//!
//! Each target starts from the cases of `tests/golden/` and changes them: bytes, ranges, words that mean something, pieces of other
//! cases. A run is told by its seed alone, so what was found can be had again: `--target NAME --seed SEED --runs 1`. A panic ends
//! the run and leaves the input in `target/fuzz/`.

mod mutate;
mod targets;

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::time::Instant;

use clap::Parser;

use mutate::{Random, mutate};

#[derive(Parser)]
struct Options {
    /// Only targets whose name begins with this.
    #[arg(long, default_value = "")]
    target: String,
    /// Runs for each target.
    #[arg(long, default_value_t = 10_000)]
    runs: u64,
    /// The seed of the first run; the next one has the next number.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() {
    let options = Options::parse();
    let targets = targets::all();
    for target in targets.iter().filter(|target| target.name.starts_with(&options.target)) {
        let started = Instant::now();
        for seed in options.seed..options.seed.saturating_add(options.runs) {
            let input = mutate(&mut Random::new(seed), &target.seeds);
            if catch_unwind(std::panic::AssertUnwindSafe(|| (target.run)(&input))).is_err() {
                let path = Path::new("target/fuzz").join(format!("{}-{seed}", target.name));
                fs::create_dir_all("target/fuzz").expect("the folder of a build");
                fs::write(&path, &input).expect("a file there");
                eprintln!(
                    "{} panics: --target {} --seed {seed} --runs 1, input in {}",
                    target.name,
                    target.name,
                    path.display()
                );
                std::process::exit(1);
            }
        }
        let seconds = started.elapsed().as_secs_f64();
        println!("{} runs={} per_second={:.0}", target.name, options.runs, options.runs as f64 / seconds);
    }
}
