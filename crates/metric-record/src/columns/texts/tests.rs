use proptest::prelude::*;

use super::*;

/// Owned buffers of all layouts, with bytes around the texts that are not UTF-8.
struct Buffers {
    offsets: Vec<i32>,
    large_offsets: Vec<i64>,
    bytes: Vec<u8>,
    views: Vec<[u8; 16]>,
    long: [Vec<u8>; 2],
    bits: Vec<u8>,
    offset: usize,
    cells: usize,
}

impl Buffers {
    fn from_cells(cells: &[Option<String>], offset: usize) -> Self {
        let mut buffers = Self {
            offsets: vec![2],
            large_offsets: vec![2],
            bytes: vec![0xff, 0xfe],
            views: Vec::new(),
            long: [vec![0x80], vec![0x80]],
            bits: vec![0; (cells.len() + offset).div_ceil(8)],
            offset,
            cells: cells.len(),
        };
        for (row, cell) in cells.iter().enumerate() {
            buffers.push(row, cell.as_deref());
        }
        buffers.bytes.extend([0xff; 3]);
        buffers
    }

    fn push(&mut self, row: usize, cell: Option<&str>) {
        // The content of a null is arbitrary in a view, and must be UTF-8 between offsets.
        self.bytes.extend(cell.unwrap_or("null").as_bytes());
        self.offsets.push(self.bytes.len() as i32);
        self.large_offsets.push(self.bytes.len() as i64);
        let Some(text) = cell else {
            self.views.push([0xff; 16]);
            return;
        };
        let bit = self.offset + row;
        self.bits[bit / 8] |= 1 << (bit % 8);
        let mut view = [0; 16];
        view[..4].copy_from_slice(&(text.len() as i32).to_le_bytes());
        if text.len() <= 12 {
            view[4..4 + text.len()].copy_from_slice(text.as_bytes());
        } else {
            let buffer = row % 2;
            let offset = self.long[buffer].len() as i32;
            view[4..8].copy_from_slice(&text.as_bytes()[..4]);
            view[8..12].copy_from_slice(&(buffer as i32).to_le_bytes());
            view[12..].copy_from_slice(&offset.to_le_bytes());
            self.long[buffer].extend(text.as_bytes());
            self.long[buffer].push(0x80);
        }
        self.views.push(view);
    }

    fn validity(&self) -> Option<Validity<'_>> {
        Some(Validity::new(&self.bits, self.offset, self.cells).unwrap())
    }

    fn utf8(&self) -> Result<Texts<'_>, TextsError> {
        Texts::utf8(&self.offsets, &self.bytes, self.validity())
    }

    fn large_utf8(&self) -> Result<Texts<'_>, TextsError> {
        Texts::large_utf8(&self.large_offsets, &self.bytes, self.validity())
    }

    fn utf8_view(&self) -> Result<Texts<'_>, TextsError> {
        let long = self.long.each_ref().map(Vec::as_slice);
        Texts::utf8_view(&self.views, &long, self.validity())
    }
}

fn cells() -> impl Strategy<Value = Vec<Option<String>>> {
    let text = prop_oneof![
        "[a-c]{0,14}",
        "[aé漢\u{1F600}]{0,8}",
        ".{0,20}",
        Just("x".repeat(12)),
        Just("x".repeat(13)),
    ];
    proptest::collection::vec(proptest::option::weighted(0.8, text), 0..12)
}

fn check(texts: &Texts<'_>, cells: &[Option<String>], range: Range<usize>) {
    let expected: Vec<Option<&str>> = cells.iter().map(Option::as_deref).collect();
    assert_eq!(texts.len(), cells.len());
    assert_eq!(texts.iter().collect::<Vec<_>>(), expected);
    assert_eq!(texts.get(cells.len()), None);
    assert_eq!(texts.get(usize::MAX), None);
    assert_eq!(
        texts.first_null(),
        cells.iter().position(|cell| cell.is_none())
    );
    let expected = &expected[within(range.clone(), cells.len())];
    let part = texts.slice(range);
    assert_eq!(part.len(), expected.len());
    assert_eq!(part.iter().collect::<Vec<_>>(), expected);
    assert_eq!(part.slice(1..2).get(0), expected.get(1).copied().flatten());
}

/// Reads everything, which must not panic.
fn walk(texts: &Texts<'_>) {
    let _ = texts.iter().count();
    let _ = texts.slice(1..texts.len()).iter().count();
    let _ = texts.first_null();
}

proptest! {
    #[test]
    fn all_layouts_hold_the_same_texts(
        cells in cells(),
        offset in 0_usize..10,
        (start, end) in (0_usize..14, 0_usize..14),
    ) {
        let buffers = Buffers::from_cells(&cells, offset);
        let options: Vec<Option<&str>> = cells.iter().map(Option::as_deref).collect();
        for texts in [
            buffers.utf8().unwrap(),
            buffers.large_utf8().unwrap(),
            buffers.utf8_view().unwrap(),
            Texts::from(&options[..]),
            options.iter().copied().collect(),
        ] {
            check(&texts, &cells, start..end);
        }
        let full: Vec<String> = cells.iter().flatten().cloned().collect();
        let strs: Vec<&str> = full.iter().map(String::as_str).collect();
        let cells: Vec<Option<String>> = full.iter().cloned().map(Some).collect();
        check(&Texts::from(&full[..]), &cells, start..end);
        check(&Texts::from(&strs[..]), &cells, start..end);
    }

    /// Offsets and bytes are a column exactly if each text by itself is within the bytes and UTF-8.
    #[test]
    fn offsets_are_checked(
        mut offsets in proptest::collection::vec(-1_i32..14, 0..5),
        sorted in any::<bool>(),
        bytes in prop_oneof![
            "[aé漢]{0,5}".prop_map(String::into_bytes),
            proptest::collection::vec(prop_oneof![Just(b'a'), 0x7e_u8..=0xff], 0..12),
        ],
    ) {
        if sorted {
            offsets.sort_unstable();
        }
        let text = |span: &[i32]| {
            let bytes = bytes.get(usize::try_from(span[0]).ok()?..usize::try_from(span[1]).ok()?)?;
            std::str::from_utf8(bytes).ok()
        };
        let expected: Option<Vec<&str>> = offsets.windows(2).map(text).collect();
        // An offset alone has to be within the bytes as well.
        let alone = |&offset: &i32| (0..=bytes.len() as i32).contains(&offset);
        let expected = expected.filter(|_| offsets.iter().all(alone));
        let large: Vec<i64> = offsets.iter().copied().map(i64::from).collect();
        for texts in [
            Texts::utf8(&offsets, &bytes, None),
            Texts::large_utf8(&large, &bytes, None),
        ] {
            let texts = texts.ok();
            let read = texts.as_ref().map(|texts| texts.iter().flatten().collect());
            prop_assert_eq!(read, expected.clone());
            prop_assert!(texts.is_none_or(|texts| texts.len() == offsets.len().saturating_sub(1)));
        }
    }

    #[test]
    fn damaged_buffers_never_panic(
        cells in cells(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        position in 0_usize..16,
        offset in prop_oneof![any::<i64>(), -2_i64..40],
    ) {
        let mut buffers = Buffers::from_cells(&cells, 0);
        let at = at.index(buffers.offsets.len());
        buffers.offsets[at] = offset as i32;
        buffers.large_offsets[at] = offset;
        buffers.utf8().iter().for_each(walk);
        buffers.large_utf8().iter().for_each(walk);
        if let Some(view) = buffers.views.get_mut(at) {
            view[position] = byte;
        }
        buffers.utf8_view().iter().for_each(walk);
    }

    #[test]
    fn any_views_never_panic(
        views in proptest::collection::vec(any::<[u8; 16]>(), 0..4),
        len in 0_u8..40,
        long in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut views = views;
        for view in &mut views {
            view[..4].copy_from_slice(&i32::from(len).to_le_bytes());
            view[8..12].copy_from_slice(&[0; 4]);
            view[13..].copy_from_slice(&[0; 3]);
        }
        Texts::utf8_view(&views, &[&long], None).iter().for_each(walk);
    }
}

/// Texts are checked in blocks, and each belongs to one.
#[test]
fn columns_of_several_blocks() {
    let cell = |row| (row % 7 != 3).then(|| "é漢".repeat(row % 5));
    let cells: Vec<_> = (0..3 * ROWS + 5).map(cell).collect();
    let mut buffers = Buffers::from_cells(&cells, 1);
    for texts in [buffers.utf8(), buffers.large_utf8()] {
        let texts = texts.unwrap();
        check(&texts, &cells, ROWS - 3..2 * ROWS + 9);
        check(&texts, &cells, 2 * ROWS..cells.len());
        let rest = texts.slice(1..cells.len());
        let part = rest.slice(ROWS - 2..3 * ROWS);
        let expected = cells[ROWS - 1..].iter().map(Option::as_deref);
        assert!(part.iter().eq(expected.take(part.len())));
    }

    // At the border of two blocks, and within one.
    for row in [ROWS, 2 * ROWS + 1] {
        assert!(cells[row].as_ref().is_some_and(|text| !text.is_empty()));
        let offset = buffers.offsets[row];
        buffers.offsets[row] += 1;
        let error = TextsError::SplitCharacter { row: row - 1 };
        assert_eq!(buffers.utf8().map(|_| ()), Err(error));
        buffers.offsets[row] = offset;
        let byte = std::mem::replace(&mut buffers.bytes[offset as usize], 0xff);
        let error = TextsError::NotUtf8 { row };
        assert_eq!(buffers.utf8().map(|_| ()), Err(error));
        buffers.bytes[offset as usize] = byte;
    }
}

#[test]
fn errors_say_which_text() {
    let utf8 = |offsets: &[i32], bytes: &[u8]| {
        let texts = Texts::utf8(offsets, bytes, None);
        texts.expect_err("damaged").to_string()
    };
    let view = |length: i32, prefix: &[u8; 4], buffer: i32, offset: i32| {
        let mut view = [0; 16];
        view[..4].copy_from_slice(&length.to_le_bytes());
        view[4..8].copy_from_slice(prefix);
        view[8..12].copy_from_slice(&buffer.to_le_bytes());
        view[12..].copy_from_slice(&offset.to_le_bytes());
        let views = [view];
        let texts = Texts::utf8_view(&views, &[b"0123456789abcdef"], None);
        texts.map(|_| ()).expect_err("damaged").to_string()
    };
    let none = Validity::new(&[], 0, 0).unwrap();
    let other = Texts::utf8(&[0, 1], b"a", Some(none)).expect_err("damaged");
    let rows = [
        (
            utf8(&[0, 2, 1], b"abc"),
            "the text at index 1 is bytes 2 to 1 of 3",
        ),
        (
            utf8(&[0, 2, 4], b"abc"),
            "the text at index 1 is bytes 2 to 4 of 3",
        ),
        (
            utf8(&[-1, 2], b"abc"),
            "the text at index 0 is bytes -1 to 2 of 3",
        ),
        (
            utf8(&[4], b"abc"),
            "the text at index 0 is bytes 4 to 4 of 3",
        ),
        (
            utf8(&[0, 1, 1, 3], b"a\xff\xff"),
            "the text at index 2 is not UTF-8",
        ),
        (
            utf8(&[0, 1, 2, 3], "aé".as_bytes()),
            "the text at index 1 ends within a character",
        ),
        (
            view(-1, b"0123", 0, 0),
            "the text at index 0 has the length -1",
        ),
        (
            view(13, b"0123", 1, 0),
            "the text at index 0 is in buffer 1 of 1, counted from 0",
        ),
        (
            view(13, b"0123", -1, 0),
            "the text at index 0 is in buffer -1 of 1, counted from 0",
        ),
        (
            view(13, b"4567", 0, 4),
            "the text at index 0 is bytes 4 to 17 of 16",
        ),
        (
            view(13, b"0123", 0, -1),
            "the text at index 0 is bytes -1 to 12 of 16",
        ),
        (
            view(13, b"0123", 0, 1),
            "the text at index 0 does not start with the bytes of its view",
        ),
        (
            view(2, b"a\xff\0\0", 0, 0),
            "the text at index 0 is not UTF-8",
        ),
        (other.to_string(), "the validity has 0 cells: expected 1"),
    ];
    for (found, expected) in rows {
        assert_eq!(found, expected);
    }
}
