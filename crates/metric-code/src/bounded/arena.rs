//! Memory for one parse, which is freed at once.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// The content of a block begins at a multiple of this, as with `malloc`.
const ALIGN: usize = 16;

/// A number before what a block holds: its class.
type Header = u64;
const HEADER: usize = size_of::<Header>();

/// The bytes before the first block of a chunk: what follows its header is aligned, and what follows
/// others, too, as sizes are multiples of 16.
const SKIPPED: usize = ALIGN - HEADER;

/// Blocks have one size per multiple of 16 bytes up to 1 kB, and then eight per power of two.
/// These sizes include the header.
const CLASSES: usize = 64 + 8 * 20;

/// The size of the blocks of the last class.
const LARGEST: usize = 1 << 30;

/// Blocks up to this size are cut from chunks, and larger ones are allocated alone.
const LARGEST_CUT: usize = 1 << 16;

/// A part of memory from which blocks are cut. One is kept for the next text.
#[repr(align(16))]
struct Chunk(#[expect(dead_code, reason = "its size matters")] [u8; CHUNK]);
const CHUNK: usize = 1 << 20;

/// The class of the smallest blocks with at least this number of bytes, which is at most [`LARGEST`].
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

/// The memory and work that a parse may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// Bytes at a time.
    pub(crate) held: usize,
    /// Units of work, of about a quarter of a microsecond each.
    pub(crate) work: u64,
    /// The work of a recovery from a syntax error, in the same units.
    pub(crate) recovery: u64,
}

impl Limit {
    pub(super) const NONE: Self = Self {
        held: usize::MAX,
        work: u64::MAX,
        recovery: 0,
    };
}

/// An allocation is one unit of work, plus one for each run of this many bytes, as they may be copied.
const COPIED: usize = 1 << 8;

/// The allocation that tree-sitter makes when it begins to recover from a syntax error, and hardly ever otherwise: a
/// `StackSummary`, with its header. Before that it tries all tokens of the language, more than once.
const SUMMARY: usize = 16 + HEADER;

/// The work of a hundred steps that allocate nothing.
const STEPS: u64 = 8;

/// Steps that allocate more often than this cost more for each allocation.
const USUAL: u64 = 64;

/// After this number of allocations that no longer grows: they may be those of the end of a text.
const MOST: u64 = 1 << 13;

/// The bytes that each arena may hold at a time. Only one arena may hold more, and others wait for it, so that texts
/// that need the most memory do not take it on all threads at once. Code needs that much starting at about a megabyte.
const SHARED: usize = 1 << 26;

/// The process whose arena holds more; 0 for none. A lock would not do: a process that is forked while a thread has it
/// would wait for a thread that it does not have.
static ALONE: AtomicU32 = AtomicU32::new(0);

/// How often an arena asks whether it may hold more. Parses that need as much take many times longer.
const PAUSE: Duration = Duration::from_millis(5);

/// The right to hold more than [`SHARED`], which one arena of the process has at a time.
struct Alone;

impl Alone {
    /// Waits until no other arena of this process has the right.
    fn wait() -> Self {
        let own = std::process::id();
        loop {
            let owner = ALONE.load(Ordering::Relaxed);
            if owner == own {
                thread::sleep(PAUSE);
                continue;
            }
            let taken = ALONE.compare_exchange(owner, own, Ordering::Acquire, Ordering::Relaxed);
            if taken.is_ok() {
                return Self;
            }
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        ALONE.store(0, Ordering::Release);
    }
}

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
    /// The allocations of large blocks.
    large: Vec<(NonNull<u8>, Layout)>,
    /// The bytes of all chunks and large blocks, free or not.
    held: usize,
    /// Units of work so far.
    work: u64,
    /// Allocations since the last call of [`steps`](Self::steps).
    recent: u64,
    limit: Limit,
    /// While it holds more than [`SHARED`].
    alone: Option<Alone>,
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
            alone: None,
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
        self.alone = None;
        self.free = [ptr::null_mut(); CLASSES];
        (self.work, self.recent, self.limit) = (0, 0, limit);
    }

    /// Cuts the next blocks from a chunk, none of which is in use.
    fn start(&mut self, chunk: NonNull<u8>) {
        // SAFETY: a chunk is larger than that.
        self.next = unsafe { chunk.add(SKIPPED) };
        self.left = CHUNK - SKIPPED;
    }

    /// Returns a block of this many bytes, or null if that would pass the limit and `may_fail`.
    pub(super) fn allocate(&mut self, bytes: usize, may_fail: bool) -> *mut u8 {
        let bytes = bytes.saturating_add(HEADER);
        self.recent += 1;
        let recovery = match bytes {
            SUMMARY => self.limit.recovery,
            _ => 0,
        };
        let over = self.spend(1 + (bytes / COPIED) as u64 + recovery);
        if may_fail && (over || bytes > LARGEST) {
            return ptr::null_mut();
        }
        if bytes > LARGEST {
            no_memory();
        }
        let class = class_of(bytes);
        let free = self.free[class];
        if !free.is_null() {
            // SAFETY: `release` wrote there where the next one is, and nobody has used the block since.
            self.free[class] = unsafe { free.cast::<*mut u8>().read() };
            return free;
        }
        let start = match bytes_of(class) {
            bytes @ 0..=LARGEST_CUT => self.cut(bytes, may_fail),
            bytes => self.allocate_alone(bytes, may_fail),
        };
        let Some(start) = start else {
            return ptr::null_mut();
        };
        // SAFETY: the block has more than its header, which is 8 bytes before a multiple of 16.
        unsafe {
            start.cast::<Header>().write(class as Header);
            start.add(HEADER).as_ptr()
        }
    }

    /// Cuts a block from a chunk. Returns its start.
    fn cut(&mut self, bytes: usize, may_fail: bool) -> Option<NonNull<u8>> {
        if bytes > self.left {
            self.hold(CHUNK, may_fail)?;
            let chunk = new_chunk();
            self.chunks.push(chunk);
            self.start(chunk);
        }
        let start = self.next;
        self.left -= bytes;
        // SAFETY: at least this many bytes were left in the chunk.
        self.next = unsafe { start.add(bytes) };
        Some(start)
    }

    /// Allocates a large block. Returns its start.
    fn allocate_alone(&mut self, bytes: usize, may_fail: bool) -> Option<NonNull<u8>> {
        let bytes = bytes + SKIPPED;
        self.hold(bytes, may_fail)?;
        let layout = Layout::from_size_align(bytes, ALIGN).unwrap_or_else(|_| no_memory());
        // SAFETY: the layout has a size.
        let base = NonNull::new(unsafe { alloc(layout) });
        let base = base.unwrap_or_else(|| handle_alloc_error(layout));
        self.large.push((base, layout));
        // SAFETY: there are more bytes than that.
        Some(unsafe { base.add(SKIPPED) })
    }

    /// Counts bytes that will be held, or returns `None` if that would pass the limit and `may_fail`.
    fn hold(&mut self, bytes: usize, may_fail: bool) -> Option<()> {
        let held = self.held.saturating_add(bytes);
        if may_fail && held > self.limit.held {
            return None;
        }
        if held > SHARED && self.alone.is_none() {
            // Who has it waits for no other arena, so that its parse comes to an end.
            self.alone = Some(Alone::wait());
        }
        self.held = held;
        Some(())
    }

    /// Takes a block back.
    ///
    /// # Safety
    ///
    /// The block is of this arena, was allocated since it was cleared, and is not used again.
    pub(super) unsafe fn release(&mut self, block: *mut u8) {
        // SAFETY: see `class_of_block`. Nobody uses the block, which has room for a pointer: the smallest ones
        // have 8 bytes, at a multiple of 16.
        unsafe {
            let class = class_of_block(block);
            block.cast::<*mut u8>().write(self.free[class]);
            self.free[class] = block;
        }
    }

    /// Returns a block of this many bytes with those of another one, which is not used again; or null, if that would
    /// pass the limit and `may_fail`, and then the block stays as it is.
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
        // SAFETY: see `class_of_block`.
        let room = bytes_of(unsafe { class_of_block(block) }) - HEADER;
        if bytes <= room {
            return block;
        }
        let moved = self.allocate(bytes, may_fail);
        if !moved.is_null() {
            // SAFETY: both blocks have this many bytes. They do not overlap, as one is new and the other one was not
            // released before.
            unsafe {
                ptr::copy_nonoverlapping(block, moved, room);
                self.release(block);
            }
        }
        moved
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

/// Ends the process, as the C library does where it has no memory for tree-sitter.
fn no_memory() -> ! {
    handle_alloc_error(Layout::new::<Chunk>())
}

fn new_chunk() -> NonNull<u8> {
    let layout = Layout::new::<Chunk>();
    // SAFETY: a chunk has a size.
    let chunk = NonNull::new(unsafe { alloc(layout) });
    chunk.unwrap_or_else(|| handle_alloc_error(layout))
}

/// The class of a block.
///
/// # Safety
///
/// It is a block of an arena, which follows its header.
unsafe fn class_of_block(block: *mut u8) -> usize {
    // SAFETY: see above. The header is at a multiple of 8, as the block is at one of 16.
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
            assert!(bytes > last && bytes.is_multiple_of(ALIGN), "{class}");
            assert_eq!([class_of(last + 1), class_of(bytes)], [class; 2]);
            last = bytes;
        }
        assert_eq!((class_of(0), last), (0, LARGEST));
    }

    /// A block with its size, filled with a byte of its own.
    struct Filled(*mut u8, usize, u8);

    impl Filled {
        fn fill(block: *mut u8, bytes: usize, byte: u8) -> Self {
            assert_eq!(block as usize % ALIGN, 0);
            // SAFETY: the block has this many bytes.
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
    fn one_arena_at_a_time_holds_much() {
        use std::sync::atomic::AtomicBool;

        let fill = |arena: &mut Arena| {
            while arena.held() <= SHARED {
                assert!(!arena.allocate(1 << 24, true).is_null());
            }
        };
        let mut first = Arena::new();
        fill(&mut first);
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                fill(&mut Arena::new());
                is_done.store(true, Ordering::SeqCst);
            });
            std::thread::sleep(Duration::from_millis(100));
            assert!(!is_done.load(Ordering::SeqCst));
            // SAFETY: its blocks are not used again.
            unsafe { first.clear(Limit::NONE) };
        });
        assert!(is_done.load(Ordering::SeqCst));
        // As in a process that was forked from one whose thread held much.
        ALONE.store(std::process::id() + 1, Ordering::SeqCst);
        fill(&mut Arena::new());
    }

    #[test]
    fn a_limit_is_not_passed_unless_it_must_be() {
        let limit = Limit {
            held: 3 * CHUNK,
            work: 1_000_000,
            recovery: 0,
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
        // SAFETY: the blocks are not used again.
        unsafe {
            arena.clear(Limit {
                recovery: 10,
                ..limit
            });
        };
        for bytes in [8, 16, 32] {
            arena.allocate(bytes, true);
        }
        assert_eq!(arena.work(), 13);
        // No machine has so much.
        assert!(arena.allocate(usize::MAX, true).is_null());
    }
}
