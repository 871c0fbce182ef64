// As work.c, for rustc -O: generic code, panics that are caught, threads, allocation.
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

fn walk(tree: &BTreeMap<String, Vec<u64>>, depth: u32) -> u64 {
    if depth > 0 {
        return walk(tree, depth - 1).wrapping_mul(31) + depth as u64;
    }
    tree.iter().map(|(k, v)| k.len() as u64 + v.iter().sum::<u64>()).fold(0, u64::wrapping_add)
}

fn work(seconds: f64) -> u64 {
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    let mut sum = 1u64;
    while Instant::now() < until {
        let mut tree = BTreeMap::new();
        let mut map = HashMap::new();
        for i in 0..300u64 {
            let key = format!("{:x}-{}", sum.wrapping_mul(i) % 997, i % 17);
            *map.entry(key.clone()).or_insert(0u64) += i;
            tree.entry(key).or_insert_with(Vec::new).push(i);
        }
        let mut all: Vec<_> = map.into_iter().collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let caught = std::panic::catch_unwind(|| all.iter().map(|x| x.1).max().unwrap_or(0));
        sum = sum.wrapping_add(walk(&tree, (sum % 40) as u32)).wrapping_add(caught.unwrap_or(1));
    }
    sum
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(0.3);
    let thread = std::thread::spawn(move || work(seconds));
    let own = work(seconds);
    std::process::exit((own ^ thread.join().unwrap()) as i32 & 0);
}
