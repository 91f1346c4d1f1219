//! Memory for one parse, which is freed at once.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error, realloc};
use std::ptr::{self, NonNull};

/// What a block holds begins at a multiple of this, as with `malloc`.
const ALIGN: usize = 16;

/// A number before what a block holds: the class of a small block, or [`CLASSES`] and the index of
/// a large one.
type Header = u64;
const HEADER: usize = size_of::<Header>();

/// Small blocks have one class per multiple of 16 bytes up to 1 kB, and then eight per power of
/// two. These sizes include the header.
const CLASSES: usize = 64 + 8 * 6;

/// Larger blocks are allocated alone.
const LARGEST_SMALL: usize = 1 << 16;

/// Small blocks are cut from chunks. One chunk is kept for the next text.
#[repr(align(16))]
struct Chunk(#[expect(dead_code, reason = "its size matters")] [u8; CHUNK]);
const CHUNK: usize = 1 << 20;

/// The class of the smallest blocks of at least so many bytes, which are at most [`LARGEST_SMALL`].
fn class_of(bytes: usize) -> usize {
    if bytes <= 1024 {
        return bytes.div_ceil(ALIGN).max(1) - 1;
    }
    let power = (bytes - 1).ilog2() as usize;
    let eighth = ((bytes - 1) >> (power - 3)) & 7;
    64 + 8 * (power - 10) + eighth
}

/// The size of the blocks of a class.
fn bytes_of(class: usize) -> usize {
    match class {
        0..64 => ALIGN * (class + 1),
        _ => {
            let (power, eighth) = (10 + (class - 64) / 8, (class - 64) % 8);
            (9 + eighth) << (power - 3)
        }
    }
}

/// What a parse may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// Bytes at a time.
    pub(crate) held: usize,
    /// Units of work, of about a third of a microsecond each.
    pub(crate) work: u64,
}

impl Limit {
    pub(super) const NONE: Self = Self {
        held: usize::MAX,
        work: u64::MAX,
    };
}

/// An allocation is a unit of work, and one more for each of so many bytes: they may be copied.
const COPIED: usize = 1 << 8;

/// The work of a hundred steps that allocate nothing.
const STEPS: u64 = 8;

/// Steps that allocate more often than this cost more for each allocation.
const USUAL: u64 = 64;

/// From so many allocations on that no longer grows: they may be those of the end of a text.
const MOST: u64 = 1 << 13;

/// Blocks of memory, and how much they take.
///
/// Whether a limit is reached depends on the sizes that were asked for since the arena was
/// [cleared](Self::clear), and on nothing else: not on the machine or on what it held before.
pub(super) struct Arena {
    /// At least one.
    chunks: Vec<NonNull<u8>>,
    /// The part of the last chunk that is not cut yet.
    next: NonNull<u8>,
    left: usize,
    /// A free block of each class. It holds a pointer to the next one.
    free: [*mut u8; CLASSES],
    /// Large blocks with their headers.
    large: Vec<(NonNull<u8>, Layout)>,
    /// The bytes of all chunks in use and of the large blocks.
    held: usize,
    /// Units of work so far.
    work: u64,
    /// Allocations since the last call of [`steps`](Self::steps).
    recent: u64,
    limit: Limit,
}

impl Arena {
    pub(super) fn new() -> Self {
        let chunk = new_chunk();
        let mut arena = Self {
            chunks: vec![chunk],
            next: chunk,
            left: 0,
            free: [ptr::null_mut(); CLASSES],
            large: Vec::new(),
            held: CHUNK,
            work: 0,
            recent: 0,
            limit: Limit::NONE,
        };
        arena.start(chunk);
        arena
    }

    /// Bytes that are held now.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Units of work so far.
    #[cfg(test)]
    pub(super) fn work(&self) -> u64 {
        self.work
    }

    /// Counts work that is done elsewhere. Returns whether the limit is reached.
    pub(super) fn spend(&mut self, units: u64) -> bool {
        self.work = self.work.saturating_add(units);
        self.work > self.limit.work
    }

    /// Counts a hundred steps of the parser.
    ///
    /// Steps on code allocate some 45 times. With ten times as many stacks they allocate ten times as
    /// often, and each of these stacks is compared with all others. Returns whether the limit is reached.
    pub(super) fn steps(&mut self) -> bool {
        let recent = std::mem::take(&mut self.recent);
        self.spend(STEPS + recent * recent.min(MOST) / USUAL)
    }

    /// Frees all blocks and starts anew.
    ///
    /// # Safety
    ///
    /// No block is used again.
    pub(super) unsafe fn clear(&mut self, limit: Limit) {
        for (block, layout) in self.large.drain(..) {
            // SAFETY: the block was allocated with this layout and is not used again.
            unsafe { dealloc(block.as_ptr(), layout) };
        }
        for chunk in self.chunks.drain(1..) {
            // SAFETY: the chunk was allocated with this layout and no block of it is used again.
            unsafe { dealloc(chunk.as_ptr(), Layout::new::<Chunk>()) };
        }
        self.start(self.chunks[0]);
        self.held = CHUNK;
        self.free = [ptr::null_mut(); CLASSES];
        (self.work, self.recent, self.limit) = (0, 0, limit);
    }

    /// Cuts the next blocks from a chunk, none of which is in use.
    fn start(&mut self, chunk: NonNull<u8>) {
        // What follows the first header is aligned, and so is all else: sizes are multiples of 16.
        let skipped = ALIGN - HEADER;
        // SAFETY: a chunk is larger than that.
        self.next = unsafe { chunk.add(skipped) };
        self.left = CHUNK - skipped;
    }

    /// Returns a block for so many bytes, or null if that would pass the limit and `may_fail`.
    pub(super) fn allocate(&mut self, bytes: usize, may_fail: bool) -> *mut u8 {
        let bytes = with_header(bytes);
        if self.is_over(bytes, may_fail) {
            return ptr::null_mut();
        }
        match bytes {
            0..=LARGEST_SMALL => self.allocate_small(class_of(bytes), may_fail),
            _ => self.allocate_large(bytes, may_fail),
        }
    }

    /// Counts an allocation. Returns whether the limit of work is reached.
    fn is_over(&mut self, bytes: usize, may_fail: bool) -> bool {
        self.recent += 1;
        self.spend(1 + (bytes / COPIED) as u64) && may_fail
    }

    fn allocate_small(&mut self, class: usize, may_fail: bool) -> *mut u8 {
        let free = self.free[class];
        if !free.is_null() {
            // SAFETY: `release` wrote there where the next one is, and nobody has used the block since.
            self.free[class] = unsafe { free.cast::<*mut u8>().read() };
            return free;
        }
        let bytes = bytes_of(class);
        if bytes > self.left {
            if may_fail && self.held + CHUNK > self.limit.held {
                return ptr::null_mut();
            }
            self.held += CHUNK;
            let chunk = new_chunk();
            self.chunks.push(chunk);
            self.start(chunk);
        }
        let block = self.next;
        self.left -= bytes;
        // SAFETY: there are at least `bytes` left in the chunk, and no block has any of them. The header
        // is at a multiple of 8: see `start`.
        unsafe {
            self.next = block.add(bytes);
            block.cast::<Header>().write(class as Header);
            block.add(HEADER).as_ptr()
        }
    }

    fn allocate_large(&mut self, bytes: usize, may_fail: bool) -> *mut u8 {
        if may_fail && self.held.saturating_add(bytes) > self.limit.held {
            return ptr::null_mut();
        }
        let layout = large_layout(bytes);
        // SAFETY: the layout has a size.
        let base = NonNull::new(unsafe { alloc(layout) });
        let base = base.unwrap_or_else(|| handle_alloc_error(layout));
        self.held += layout.size();
        self.large.push((base, layout));
        self.write_index(self.large.len() - 1)
    }

    /// Writes the header of a large block. Returns what follows.
    fn write_index(&mut self, index: usize) -> *mut u8 {
        let base = self.large[index].0.as_ptr();
        // SAFETY: a large block has more than `ALIGN` bytes. The header is at a multiple of 8.
        unsafe {
            let header = base.add(ALIGN - HEADER).cast::<Header>();
            header.write((CLASSES + index) as Header);
            base.add(ALIGN)
        }
    }

    /// Takes a block back.
    ///
    /// # Safety
    ///
    /// The block is of this arena, was allocated since it was cleared, and is not used again.
    pub(super) unsafe fn release(&mut self, block: *mut u8) {
        // SAFETY: each block has its header before it.
        let header = unsafe { header_of(block) };
        if header < CLASSES {
            // SAFETY: nobody uses the block, which has room for a pointer: the smallest ones have 8
            // bytes, at a multiple of 16.
            unsafe { block.cast::<*mut u8>().write(self.free[header]) };
            self.free[header] = block;
            return;
        }
        let index = header - CLASSES;
        let (base, layout) = self.large.swap_remove(index);
        self.held -= layout.size();
        if index < self.large.len() {
            self.write_index(index);
        }
        // SAFETY: the block was allocated with this layout, and nobody uses it.
        unsafe { dealloc(base.as_ptr(), layout) };
    }

    /// Returns a block for so many bytes with those of another one, which is not used again; or null, if
    /// that would pass the limit and `may_fail`, and then the block stays as it is.
    ///
    /// # Safety
    ///
    /// The block is of this arena and was allocated since it was cleared.
    pub(super) unsafe fn reallocate(
        &mut self,
        block: *mut u8,
        bytes: usize,
        may_fail: bool,
    ) -> *mut u8 {
        // SAFETY: each block has its header before it.
        let header = unsafe { header_of(block) };
        let new = with_header(bytes);
        if header >= CLASSES && new > LARGEST_SMALL {
            // SAFETY: as the caller promises.
            return unsafe { self.reallocate_large(header - CLASSES, new, may_fail) };
        }
        let old = match header < CLASSES {
            true => bytes_of(header),
            false => self.large[header - CLASSES].1.size() - (ALIGN - HEADER),
        };
        if header < CLASSES && new <= old {
            return block;
        }
        let moved = self.allocate(bytes, may_fail);
        if !moved.is_null() {
            // SAFETY: both blocks have so many bytes, and one of them is new.
            unsafe {
                ptr::copy_nonoverlapping(block, moved, old.min(new) - HEADER);
                self.release(block);
            }
        }
        moved
    }

    /// # Safety
    ///
    /// The large block with this index is not used again, unless null is returned.
    unsafe fn reallocate_large(&mut self, index: usize, bytes: usize, may_fail: bool) -> *mut u8 {
        let (base, old) = self.large[index];
        let held = self.held - old.size();
        if self.is_over(bytes, may_fail)
            || (may_fail && held.saturating_add(bytes) > self.limit.held)
        {
            return ptr::null_mut();
        }
        let new = large_layout(bytes);
        // SAFETY: the block was allocated with the old layout. The new one has a size and the same alignment.
        let moved = unsafe { realloc(base.as_ptr(), old, new.size()) };
        let moved = NonNull::new(moved).unwrap_or_else(|| handle_alloc_error(new));
        self.held = held + new.size();
        self.large[index] = (moved, new);
        self.write_index(index)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: who has a block has borrowed the arena.
        unsafe { self.clear(self.limit) };
        for chunk in self.chunks.drain(..) {
            // SAFETY: the chunk was allocated with this layout.
            unsafe { dealloc(chunk.as_ptr(), Layout::new::<Chunk>()) };
        }
    }
}

fn new_chunk() -> NonNull<u8> {
    let layout = Layout::new::<Chunk>();
    // SAFETY: a chunk has a size.
    let chunk = NonNull::new(unsafe { alloc(layout) });
    chunk.unwrap_or_else(|| handle_alloc_error(layout))
}

fn with_header(bytes: usize) -> usize {
    bytes.saturating_add(HEADER)
}

/// The layout of a large block: its header is in the last bytes of the first 16.
fn large_layout(bytes: usize) -> Layout {
    let bytes = bytes.saturating_add(ALIGN - HEADER);
    Layout::from_size_align(bytes, ALIGN)
        .unwrap_or_else(|_| handle_alloc_error(Layout::new::<Chunk>()))
}

/// # Safety
///
/// A block of an arena follows a header.
unsafe fn header_of(block: *mut u8) -> usize {
    // SAFETY: see above. It is at a multiple of 8, as the block is.
    unsafe { block.sub(HEADER).cast::<Header>().read() as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_what_they_are_for() {
        let mut last = 0;
        for class in 0..CLASSES {
            let bytes = bytes_of(class);
            assert!(bytes > last && bytes % ALIGN == 0, "{class}");
            assert_eq!([class_of(last + 1), class_of(bytes)], [class; 2]);
            last = bytes;
        }
        assert_eq!((class_of(0), last), (0, LARGEST_SMALL));
    }

    /// A block with its size, filled with a byte of its own.
    struct Filled(*mut u8, usize, u8);

    impl Filled {
        fn fill(block: *mut u8, bytes: usize, byte: u8) -> Self {
            assert_eq!(block as usize % ALIGN, 0);
            // SAFETY: the block has so many bytes.
            unsafe { block.write_bytes(byte, bytes) };
            Self(block, bytes, byte)
        }

        fn check(&self, bytes: usize) {
            for at in [0, bytes / 2, bytes.saturating_sub(1)] {
                if at < bytes {
                    // SAFETY: as above.
                    assert_eq!(unsafe { self.0.add(at).read() }, self.2);
                }
            }
        }
    }

    /// Allocates, moves and frees blocks in an order that looks random; returns what was counted.
    fn exercise(arena: &mut Arena) -> (usize, u64) {
        let mut blocks: Vec<Filled> = Vec::new();
        let mut random = 1_u64;
        let mut next = |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005) + 1;
            (random >> 33) as usize % below
        };
        for turn in 0..400 {
            let sizes = [1, 100, 1000, 5000, 70_000, 200_000];
            let size = sizes[next(sizes.len())];
            let bytes = next(size + 1);
            match next(4) {
                0 | 1 => {
                    let block = arena.allocate(bytes, true);
                    blocks.push(Filled::fill(block, bytes, turn as u8));
                }
                2 if !blocks.is_empty() => {
                    let index = next(blocks.len());
                    let old = blocks.swap_remove(index);
                    // SAFETY: a block of the arena, which is not used again.
                    let block = unsafe { arena.reallocate(old.0, bytes, true) };
                    Filled(block, bytes, old.2).check(bytes.min(old.1));
                    blocks.push(Filled::fill(block, bytes, turn as u8));
                }
                _ if !blocks.is_empty() => {
                    let block = blocks.swap_remove(next(blocks.len()));
                    block.check(block.1);
                    // SAFETY: as above.
                    unsafe { arena.release(block.0) };
                }
                _ => {}
            }
        }
        for block in &blocks {
            block.check(block.1);
        }
        (arena.held(), arena.work())
    }

    #[test]
    fn blocks_are_apart_and_counts_depend_on_nothing_before() {
        let mut arena = Arena::new();
        let first = exercise(&mut arena);
        for _ in 0..2 {
            // SAFETY: the blocks are not used again.
            unsafe { arena.clear(Limit::NONE) };
            assert_eq!(exercise(&mut arena), first);
        }
        assert_eq!(exercise(&mut Arena::new()), first);
    }

    #[test]
    fn a_limit_is_not_passed_unless_it_must_be() {
        let limit = Limit {
            held: 3 * CHUNK,
            work: 1_000_000,
        };
        for bytes in [16, 1000, 60_000, 70_000] {
            let mut arena = Arena::new();
            // SAFETY: there are no blocks.
            unsafe { arena.clear(limit) };
            let mut last = ptr::null_mut();
            loop {
                let block = arena.allocate(bytes, true);
                assert!(arena.held() <= limit.held);
                if block.is_null() {
                    break;
                }
                last = block;
            }
            assert!(arena.held() > 2 * CHUNK, "{bytes}");
            // SAFETY: a block of the arena.
            unsafe {
                assert!(arena.reallocate(last, 2 * CHUNK, true).is_null());
                assert!(!arena.reallocate(last, 2 * CHUNK, false).is_null());
            }
            assert!(!arena.allocate(bytes, false).is_null());
        }
        let mut arena = Arena::new();
        // SAFETY: there are no blocks.
        unsafe { arena.clear(Limit { work: 3, ..limit }) };
        let blocks = [(); 4].map(|()| arena.allocate(16, true).is_null());
        assert_eq!(blocks, [false, false, false, true]);
        assert!(arena.spend(1) && arena.steps());
        // No machine has so much.
        assert!(arena.allocate(usize::MAX, true).is_null());
    }
}
