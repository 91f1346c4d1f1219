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
struct Chunk(#[expect(dead_code, reason = "its size matters")] [u8; 1 << 20]);

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

/// How much memory a parse may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// Bytes at a time.
    pub(crate) held: usize,
    /// Bytes of all allocations, freed or not: a measure of work.
    pub(crate) asked: u64,
}

/// Blocks of memory, and how much they take.
///
/// Whether a limit is reached depends on the sizes that were asked for since the arena was
/// [cleared](Self::clear), and on nothing else: not on the machine or on what it held before.
pub(super) struct Arena {
    chunks: Vec<NonNull<u8>>,
    /// The part of the last chunk that is not cut yet.
    next: *mut u8,
    left: usize,
    /// A free block of each class. It holds a pointer to the next one.
    free: [*mut u8; CLASSES],
    /// Large blocks with their headers.
    large: Vec<(NonNull<u8>, Layout)>,
    /// The bytes of all small blocks, free or not, and of the large ones.
    held: usize,
    asked: u64,
    limit: Limit,
}

impl Arena {
    pub(super) const fn new() -> Self {
        Self {
            chunks: Vec::new(),
            next: ptr::null_mut(),
            left: 0,
            free: [ptr::null_mut(); CLASSES],
            large: Vec::new(),
            held: 0,
            asked: 0,
            limit: Limit { held: 0, asked: 0 },
        }
    }

    /// Bytes that are held, as the limit counts them.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Bytes that were asked for, as the limit counts them.
    pub(super) fn asked(&self) -> u64 {
        self.asked
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
        while self.chunks.len() > 1 {
            if let Some(chunk) = self.chunks.pop() {
                // SAFETY: the chunk was allocated with this layout and no block of it is used again.
                unsafe { dealloc(chunk.as_ptr(), Layout::new::<Chunk>()) };
            }
        }
        self.start_chunk();
        self.free = [ptr::null_mut(); CLASSES];
        (self.held, self.asked, self.limit) = (0, 0, limit);
    }

    /// Goes on with the last chunk, none of which is in use.
    fn start_chunk(&mut self) {
        (self.next, self.left) = match self.chunks.last() {
            // So that what follows the first header is aligned. Sizes of blocks are multiples of 16.
            Some(chunk) => (
                chunk.as_ptr().wrapping_add(ALIGN - HEADER),
                size_of::<Chunk>() - ALIGN,
            ),
            None => (ptr::null_mut(), 0),
        };
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

    /// Counts bytes that are asked for.
    fn is_over(&mut self, bytes: usize, may_fail: bool) -> bool {
        self.asked = self.asked.saturating_add(bytes as u64);
        may_fail && self.asked > self.limit.asked
    }

    fn allocate_small(&mut self, class: usize, may_fail: bool) -> *mut u8 {
        let free = self.free[class];
        if !free.is_null() {
            // SAFETY: `release` wrote there where the next one is, and nobody has used the block since.
            self.free[class] = unsafe { free.cast::<*mut u8>().read() };
            return free;
        }
        let bytes = bytes_of(class);
        if may_fail && self.held + bytes > self.limit.held {
            return ptr::null_mut();
        }
        self.held += bytes;
        if bytes > self.left {
            let layout = Layout::new::<Chunk>();
            // SAFETY: a chunk has a size.
            let chunk = NonNull::new(unsafe { alloc(layout) });
            let chunk = chunk.unwrap_or_else(|| handle_alloc_error(layout));
            self.chunks.push(chunk);
            self.start_chunk();
        }
        let block = self.next;
        self.left -= bytes;
        // SAFETY: there are at least `bytes` left in the chunk, and no block has any of them. The header
        // is at a multiple of 8, as `start_chunk` begins with one and sizes are multiples of 16.
        unsafe {
            self.next = block.add(bytes);
            block.cast::<Header>().write(class as Header);
            block.add(HEADER)
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
