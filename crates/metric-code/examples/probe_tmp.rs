use std::io::Read;
// LANG FILE|- [held MB] [asked MB] [units]
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let language: metric_code::Language = args[1].parse().unwrap();
    let num = |i: usize, d: usize| args.get(i).map_or(d, |a| a.parse().unwrap());
    let mut bytes = Vec::new();
    if args[2] == "-" { std::io::stdin().read_to_end(&mut bytes).unwrap(); } else { bytes = std::fs::read(&args[2]).unwrap(); }
    let text = String::from_utf8_lossy(&bytes);
    let r = metric_code::probe(language, &text, num(3, 512) << 20, (num(4, 1 << 20) as u64) << 20, num(5, usize::MAX));
    println!("{} ok={} units={} held={:.1}MB asked={:.1}MB nodes={} parse={:.3}s read={:.3}s per byte: units {:.4} held {:.1} asked {:.1} nodes {:.2}", text.len(), r.0, r.1, r.2 as f64 / 1048576.0, r.3 as f64/1048576.0, r.4, r.5, r.6,
      r.1 as f64 / text.len() as f64, r.2 as f64/text.len() as f64, r.3 as f64/text.len() as f64, r.4 as f64/text.len() as f64);
}
