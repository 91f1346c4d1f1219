//! Exact sums and assignments of arbitrary numbers, against plain ones.
//!
//! An input is a byte, counted starting at `a`, that chooses what is tried, and
//! [numbers](metric_suite_fuzz::Numbers).

#![no_main]

use libfuzzer_sys::fuzz_target;
use metric_core::assignment::{Benefit, Costs, Edge, Gate, assign};
use metric_core::{Mean, Merge, Sum};
use metric_suite_fuzz::{Numbers, choose};

fuzz_target!(|data: &[u8]| {
    let [kind, bytes @ ..] = data else {
        return;
    };
    choose(&[sums, assignments, matrices], *kind)(Numbers(bytes));
});

/// A sum does not depend on order and parts, and is the one of the algorithm of Python's `fsum`.
fn sums(numbers: Numbers<'_>) {
    let terms: Vec<f64> = numbers.take(64).collect();
    let sum: Sum = terms.iter().copied().collect();
    let mut parts = [Sum::default(), Sum::default()];
    for (index, &term) in terms.iter().rev().enumerate() {
        parts[index % 2].add(term);
    }
    let [mut one, other] = parts;
    one.merge(other);
    assert_eq!(sum, one);
    let mean: Mean = terms.iter().copied().collect();
    let count = terms.len() as f64;
    let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
    match mean.value() {
        Some(mean) => assert!(same(mean, sum.value() / count), "{mean} {terms:?}"),
        None => assert!(terms.is_empty()),
    }
    if terms.iter().all(|term| term.abs() < 1e305) {
        assert_eq!(sum.value(), fsum(&terms), "{terms:?}");
    } else if terms.iter().any(|term| !term.is_finite()) {
        let special = terms.iter().filter(|term| !term.is_finite()).sum::<f64>();
        assert!(same(sum.value(), special), "{terms:?}");
    }
}

/// Shewchuk, *Adaptive precision floating-point arithmetic* (1997), as in CPython.
fn fsum(terms: &[f64]) -> f64 {
    let mut partials: Vec<f64> = Vec::new();
    for &term in terms {
        let (mut high, mut kept) = (term, 0);
        for index in 0..partials.len() {
            let mut low = partials[index];
            if high.abs() < low.abs() {
                std::mem::swap(&mut high, &mut low);
            }
            let sum = high + low;
            let rest = low - (sum - high);
            if rest != 0.0 {
                partials[kept] = rest;
                kept += 1;
            }
            high = sum;
        }
        partials.truncate(kept);
        partials.push(high);
    }
    let (mut high, mut low) = (partials.pop().unwrap_or(0.0), 0.0);
    while let Some(partial) = partials.pop() {
        let sum = high + partial;
        low = partial - (sum - high);
        high = sum;
        if low != 0.0 {
            break;
        }
    }
    // Half-way cases are rounded by what is below them.
    if let Some(below) = partials.last()
        && low != 0.0
        && (low > 0.0) == (*below > 0.0)
    {
        let twice = low * 2.0;
        let up = high + twice;
        if up - high == twice {
            high = up;
        }
    }
    high
}

/// The first of the best choices, by trying all.
fn assignments(mut numbers: Numbers<'_>) {
    let mut edges = Vec::new();
    while edges.len() < 20
        && let Some(secondary) = numbers.next()
    {
        let primary = [1, 0, 1, 2, -1, 1][numbers.below(6)];
        edges.push(Edge {
            row: numbers.below(5),
            column: numbers.below(5),
            benefit: Benefit { primary, secondary },
        });
    }
    let chosen = assign(&edges);
    let mut backwards = edges.clone();
    backwards.reverse();
    assert_eq!(chosen, assign(&backwards));
    one_to_one(&chosen);

    let possible = |edge: &&Edge| edge.benefit.secondary.abs() <= 1e300;
    let edges: Vec<Edge> = edges.iter().filter(possible).copied().collect();
    // The best benefit of each pair.
    let mut table = [[None::<Benefit>; 5]; 5];
    for edge in &edges {
        let cell = &mut table[edge.row][edge.column];
        let level = |benefit: Benefit| (benefit.primary, benefit.secondary);
        if cell.is_none_or(|old| level(old) < level(edge.benefit)) {
            *cell = Some(edge.benefit);
        }
    }
    let total = chosen.iter().fold((0, 0.0), |total, &(row, column)| {
        let benefit = table[row][column].expect("a pair that was given");
        (total.0 + benefit.primary, total.1 + benefit.secondary)
    });
    let mut best = (0, f64::NEG_INFINITY, Vec::new());
    try_all(&table, 0, &mut Vec::new(), (0, 0.0), &mut best);
    let size: f64 = edges.iter().map(|edge| edge.benefit.secondary.abs()).sum();
    let close = (total.1 - best.1).abs() <= size * 1e-12;
    assert!(total.0 == best.0 && close, "{total:?} {best:?} {edges:?}");
    let whole = |edge: &Edge| edge.benefit.secondary % 1.0 == 0.0;
    if size < 1e15 && edges.iter().all(whole) {
        assert_eq!(chosen, best.2, "{edges:?}");
    }
}

type Pairs = Vec<(usize, usize)>;

/// Goes through all choices, starting with the first one; keeps the first of the best.
fn try_all(
    table: &[[Option<Benefit>; 5]; 5],
    row: usize,
    chosen: &mut Pairs,
    total: (i64, f64),
    best: &mut (i64, f64, Pairs),
) {
    let Some(columns) = table.get(row) else {
        if total.0 > best.0 || (total.0 == best.0 && total.1 > best.1) {
            *best = (total.0, total.1, chosen.clone());
        }
        return;
    };
    for (column, benefit) in columns.iter().enumerate() {
        if let Some(benefit) = benefit
            // A pair that is worth less than none is never chosen.
            && (benefit.primary, benefit.secondary) >= (0, 0.0)
            && chosen.iter().all(|&(_, taken)| taken != column)
        {
            chosen.push((row, column));
            let total = (total.0 + benefit.primary, total.1 + benefit.secondary);
            try_all(table, row + 1, chosen, total, best);
            chosen.pop();
        }
    }
    try_all(table, row + 1, chosen, total, best);
}

fn one_to_one(pairs: &[(usize, usize)]) {
    assert!(pairs.is_sorted_by(|a, b| a.0 < b.0), "{pairs:?}");
    let mut columns: Vec<usize> = pairs.iter().map(|pair| pair.1).collect();
    columns.sort_unstable();
    assert!(columns.is_sorted_by(|a, b| a < b), "{pairs:?}");
}

/// No greedy rule finds more pairs, or as many that are cheaper in all.
fn matrices(mut numbers: Numbers<'_>) {
    let (rows, columns) = (numbers.below(7), numbers.below(7));
    let bound = numbers.next().unwrap_or(0.0);
    let gate = [Gate::None, Gate::Below(bound), Gate::AtMost(bound)][numbers.below(3)];
    let values: Vec<f64> = (0..rows * columns)
        .map(|_| numbers.next().unwrap_or(1.0))
        .collect();
    let invalid = |cost: &f64| cost.is_nan() || *cost == f64::NEG_INFINITY;
    let is_valid = !values.iter().any(invalid);
    let costs = Costs::new(rows, columns, values.clone());
    assert_eq!(costs.is_ok(), is_valid);
    let Ok(costs) = costs else { return };
    let confidences: Vec<f64> = (0..columns)
        .map(|_| numbers.take_array())
        .map(|[c]| c)
        .collect();

    let best = costs.optimal(gate);
    let total = |pairs: &Pairs| -> f64 {
        let costs = pairs.iter().map(|&(row, column)| costs.get(row, column));
        costs.map(|cost| cost.expect("a pair of the matrix")).sum()
    };
    let in_range = values
        .iter()
        .all(|cost| cost.abs() <= 1e300 || *cost == f64::INFINITY);
    let size: f64 = values
        .iter()
        .filter(|c| c.is_finite())
        .map(|c| c.abs())
        .sum();
    let by_confidence = costs.greedy_by_confidence(&confidences, gate);
    assert_eq!(
        by_confidence.is_err(),
        confidences.iter().any(|c| c.is_nan())
    );
    for pairs in [
        Some(costs.greedy_cheapest(gate)),
        by_confidence.ok(),
        Some(best.clone()),
    ]
    .into_iter()
    .flatten()
    {
        one_to_one(&pairs);
        let cost = |&(row, column): &(usize, usize)| costs.get(row, column).expect("a pair");
        assert!(pairs.iter().all(|pair| gate.admits(cost(pair))));
        if in_range {
            assert!(pairs.len() <= best.len(), "{pairs:?} {best:?}");
            let worse = total(&pairs) >= total(&best) - size * 1e-12;
            assert!(pairs.len() < best.len() || worse, "{pairs:?} {best:?}");
        }
    }
}
