//! Edit distances on one thread, in memory.
//!
//! `edit/cer/100k` and `edit/wer/100k`: 100,000 pairs of lines, 4.7 million characters, half of them Cyrillic, 6% of
//! the characters replaced, left out or put in; all counts of the alignment. Targets: 60 ms and 80 ms. Peers: jiwer
//! 4.06 s and 2.34 s; the crate rapidfuzz, the distance only, 36 ms for the characters.
//!
//! `edit/cer_kana/100k`: as many lines of hiragana, whose code points have no place of their own in the
//! table: at most half more than Cyrillic ones. (Measured: 56 ms, where 100,000 lines of Cyrillic took
//! 38 ms.)
//!
//! `edit/grapheme/100k`: the same lines by grapheme cluster, for which peers have nothing.
//!
//! `edit/distance/100KB` and `edit/alignment/100KB`: two texts of 100,000 letters that differ in 6%.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use metric_core::Metric;
use metric_text::edit::{Alignment, EditState};
use metric_text::{EditRate, Unit, edit_distance};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// The first letter of an alphabet, and how many there are.
type Alphabet = (char, u32);

const LATIN: Alphabet = ('a', 26);
const CYRILLIC: Alphabet = ('а', 32);
const HIRAGANA: Alphabet = ('あ', 80);

fn letter((first, letters): Alphabet, random: &mut StdRng) -> char {
    char::from_u32(u32::from(first) + random.random_range(0..letters)).unwrap_or(first)
}

/// Words of two to nine letters, up to a length, and the same with 6% of the characters corrupted.
fn line(length: usize, alphabet: Alphabet, random: &mut StdRng) -> (String, String) {
    let mut reference = Vec::new();
    while reference.len() < length {
        for _ in 0..random.random_range(2..10) {
            reference.push(letter(alphabet, random));
        }
        reference.push(' ');
    }
    reference.pop();
    let mut prediction = String::new();
    for &character in &reference {
        match random.random_range(0..50) {
            0 => prediction.push(letter(alphabet, random)),
            1 => {}
            2 => prediction.extend([character, letter(alphabet, random)]),
            _ => prediction.push(character),
        }
    }
    (reference.into_iter().collect(), prediction)
}

/// Lines in two alphabets by turns.
fn lines(count: usize, alphabets: [Alphabet; 2]) -> Vec<(String, String)> {
    let mut random = StdRng::seed_from_u64(1);
    let line = |position: usize| line(43, alphabets[position % 2], &mut random);
    (0..count).map(line).collect()
}

fn rates(criterion: &mut Criterion) {
    let european = lines(100_000, [LATIN, CYRILLIC]);
    let kana = lines(100_000, [HIRAGANA; 2]);
    for (name, unit, lines) in [
        ("edit/cer", Unit::CodePoint, &european),
        ("edit/cer_kana", Unit::CodePoint, &kana),
        ("edit/wer", Unit::Word, &european),
        ("edit/grapheme", Unit::Grapheme, &european),
    ] {
        let mut group = criterion.benchmark_group(name);
        settings(&mut group);
        let metric = EditRate::default().with_unit(unit);
        // From alignments, line by line.
        let counting = metric.clone().with_confusions(true);
        let mut expected = EditState::default();
        for (reference, prediction) in lines {
            counting.update(&mut expected, prediction, reference);
        }
        group.throughput(Throughput::Elements(expected.edits.reference_length()));
        group.bench_function("100k", |bencher| {
            bencher.iter(|| {
                let mut state = EditState::default();
                for (reference, prediction) in black_box(lines) {
                    metric.update(&mut state, prediction, reference);
                }
                assert_eq!(state.edits, expected.edits);
            });
        });
        group.finish();
    }
}

fn long_texts(criterion: &mut Criterion) {
    let (reference, prediction) = line(100_000, LATIN, &mut StdRng::seed_from_u64(2));
    let (reference, prediction) = (reference.as_bytes(), prediction.as_bytes());
    let expected = Alignment::new(reference, prediction).edits();
    let mut group = criterion.benchmark_group("edit");
    settings(&mut group);
    group.throughput(Throughput::Bytes(reference.len() as u64));
    group.bench_function("distance/100KB", |bencher| {
        bencher.iter(|| {
            let distance = edit_distance(black_box(reference), prediction);
            assert_eq!(distance as u64, expected.errors());
        });
    });
    group.bench_function("alignment/100KB", |bencher| {
        bencher.iter(|| {
            let alignment = Alignment::new(black_box(reference), prediction);
            assert_eq!(alignment.edits(), expected);
        });
    });
    group.finish();
}

fn settings(group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>) {
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
}

criterion_group!(benches, rates, long_texts);
criterion_main!(benches);
