//! How much memory there is.

/// What is assumed where the system does not say.
const ASSUMED: u64 = 8 << 30;
/// Where a container keeps its limit, and where Linux says how much there is.
const LIMIT: &str = "/sys/fs/cgroup/memory.max";
const TOTAL: &str = "/proc/meminfo";

/// Half of the machine's memory, or of what a container may take, in bytes.
pub fn half_of_memory() -> u64 {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let total = total(&read(TOTAL)).unwrap_or(ASSUMED);
    let limit = read(LIMIT).trim().parse().unwrap_or(u64::MAX);
    total.min(limit) / 2
}

/// The line `MemTotal:  8052564 kB`.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read_from_its_line() {
        assert_eq!(total("MemFree: 3 kB\nMemTotal:    8052564 kB\n"), Some(8_052_564 * 1024));
        assert_eq!(total("MemTotal: many\n"), None);
        assert!(half_of_memory() > 0);
    }
}
