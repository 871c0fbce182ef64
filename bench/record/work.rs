// work.rs - fixed work in Rust with trait objects, closures, collections and recursion; prints the CPU seconds it took.
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::time::Instant;

trait Node {
    fn sum(&self, depth: usize) -> u64;
}
struct Leaf(Vec<u32>);
struct Pair(Box<dyn Node>, Box<dyn Node>);

impl Node for Leaf {
    fn sum(&self, _: usize) -> u64 {
        self.0.iter().map(|&v| v as u64).fold(0, |a, b| a ^ b.rotate_left(3))
    }
}
impl Node for Pair {
    fn sum(&self, depth: usize) -> u64 {
        self.0.sum(depth + 1).wrapping_add(self.1.sum(depth + 1))
    }
}

fn make(depth: u32) -> Box<dyn Node> {
    if depth == 0 {
        return Box::new(Leaf((0..64).collect()));
    }
    Box::new(Pair(make(depth - 1), make(depth - 1)))
}

fn words(n: u32) -> u64 {
    let mut seen: HashMap<String, u32> = HashMap::new();
    for i in 0..n {
        *seen.entry(format!("word {}", i.wrapping_mul(2654435761) % 5000)).or_insert(0) += 1;
    }
    let sorted: BTreeMap<_, _> = seen.iter().collect();
    sorted.values().map(|&&v| v as u64).sum()
}

fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|w| w.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

// Seconds since the machine was started, as CLOCK_MONOTONIC has them.
fn now(start: &Instant, offset: f64) -> f64 {
    start.elapsed().as_secs_f64() + offset
}

fn uptime() -> f64 {
    let text = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    text.split_whitespace().next().and_then(|w| w.parse().ok()).unwrap_or(0.0)
}

// work ROUNDS [each]: prints its CPU time; when it ended each round.
fn main() {
    let rounds: u32 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(10);
    let each = std::env::args().nth(2).is_some();
    let (start, offset) = (Instant::now(), uptime());
    let mut stamps = std::io::BufWriter::new(std::io::stdout());
    let tree = make(12);
    let mut total = 0u64;
    for _ in 0..rounds {
        total = total.wrapping_add(tree.sum(0)).wrapping_add(words(20000));
        if each {
            let _ = writeln!(stamps, "{:.6}", now(&start, offset));
        }
    }
    drop(stamps);
    println!("{:.6} {}", cpu_seconds(), total);
}
