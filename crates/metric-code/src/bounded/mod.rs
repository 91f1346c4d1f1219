//! Parsing in bounded memory: the only module with `unsafe` code.
//!
//! tree-sitter allocates through hooks. Ours are in `hooks.c`. While a thread is in a [`Session`],
//! they serve it from an [`Arena`], which counts; all other threads, and this one at other times, are
//! served by the functions that were there before.
//!
//! # Why a call is ended in its middle
//!
//! tree-sitter asks after every hundred of its steps whether to go on, but one step may take
//! gigabytes and minutes: at the end of a text with errors, all ways through the stacks of the
//! parser are copied. So where the limit is reached a hook does not return: it calls `longjmp`.
//!
//! # Why this is sound
//!
//! - The hooks are installed once, before `main`, or before `dlopen` returns, when no other thread
//!   can be in tree-sitter: there is no race for the variables that hold them.
//! - Memory that was allocated outside of a session is freed outside of one, and so by the functions that
//!   allocated it. Memory of a session is freed in this session: what has it, [`Syntax`] and [`Cursor`],
//!   cannot leave its closure (they borrow the session) or its thread (a session is not `Sync`), and
//!   there is at most one session on a thread. Nothing else that has memory of tree-sitter is made or
//!   dropped in a session: the closures that run in it are those of this crate, and only this module
//!   and [`Kinds`](crate::parse::Kinds), whose functions allocate nothing, use tree-sitter.
//! - `longjmp` is called in C and leaves frames of C alone, those of the hook and of
//!   tree-sitter, for a `setjmp` in a function that has not returned: `metric_code_parse`. Rust functions
//!   that tree-sitter calls return before, and so do those that hooks call.
//! - After that the parser may be in any state. It is not used again, nor is anything that it
//!   allocated: the arena frees it all. tree-sitter has no global state and holds no locks. What is
//!   lost is the state of the grammar's scanner, at most a few kB, which comes from `malloc`.
//! - A component that calls `tree_sitter::set_allocator` later replaces the hooks. Then there is no limit
//!   of memory, and all else holds: sessions free all that they allocate, unless a limit was reached.
//!
//! # Why it is the same everywhere
//!
//! An arena counts from 0 for each text and each text has a new parser. Counts are of sizes that
//! were asked for, which are the same wherever pointers have 64 bits.

mod arena;

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::ptr;

use tree_sitter::ffi::{
    TSInput, TSInputEncodingUTF8, TSNode, TSParseOptions, TSParseState, TSParser, TSPoint, TSTree,
};
use tree_sitter::{Language as Grammar, Node, Parser, Tree, TreeCursor};

use crate::stack::with_stack;
use arena::Arena;
pub(crate) use arena::Limit;

/// The functions that serve a thread, as `hooks.c` has them.
#[repr(C)]
struct Hooks {
    arena: *mut Arena,
    allocate: unsafe extern "C" fn(*mut Arena, usize, bool) -> *mut u8,
    reallocate: unsafe extern "C" fn(*mut Arena, *mut u8, usize, bool) -> *mut u8,
    release: unsafe extern "C" fn(*mut Arena, *mut u8),
}

unsafe extern "C" fn allocate(arena: *mut Arena, bytes: usize, may_fail: bool) -> *mut u8 {
    // SAFETY: the arena of the session, which nobody else has.
    unsafe { (*arena).allocate(bytes, may_fail) }
}

unsafe extern "C" fn reallocate(
    arena: *mut Arena,
    block: *mut u8,
    bytes: usize,
    may_fail: bool,
) -> *mut u8 {
    // SAFETY: as above; tree-sitter got the block from it.
    unsafe { (*arena).reallocate(block, bytes, may_fail) }
}

unsafe extern "C" fn release(arena: *mut Arena, block: *mut u8) {
    // SAFETY: as above.
    unsafe { (*arena).release(block) }
}

unsafe extern "C" {
    fn metric_code_serve(hooks: *const Hooks) -> *const Hooks;
    fn metric_code_parse(
        parser: *mut TSParser,
        input: TSInput,
        options: TSParseOptions,
        ended: *mut bool,
    ) -> *mut TSTree;
    fn metric_code_string(
        node: TSNode,
        look: unsafe extern "C" fn(*mut c_void, *const c_char),
        payload: *mut c_void,
    );
}

thread_local! {
    /// Kept for the next session, with its first chunk.
    static ARENA: Cell<Option<Box<Arena>>> = const { Cell::new(None) };
}

/// The time in which a thread has bounded memory for tree-sitter.
pub(crate) struct Session {
    hooks: Hooks,
    /// Of this thread.
    _thread: PhantomData<*const ()>,
}

impl Session {
    /// Runs something in a session.
    pub(crate) fn run<T>(limit: Limit, run: impl FnOnce(&Self) -> T) -> T {
        let mut arena = ARENA.take().unwrap_or_else(|| Box::new(Arena::new()));
        // SAFETY: no session has it.
        unsafe { arena.clear(limit) };
        let session = Self {
            hooks: Hooks {
                arena: Box::into_raw(arena),
                allocate,
                reallocate,
                release,
            },
            _thread: PhantomData,
        };
        // SAFETY: the hooks are there until `drop`, which ends that.
        let previous = unsafe { metric_code_serve(&raw const session.hooks) };
        // Blocks of two arenas would be mixed up.
        assert!(previous.is_null(), "a session in a session");
        run(&session)
    }

    /// Parses a text. There is no tree where the input or the limit stopped that.
    pub(crate) fn parse<'t, I: Input<'t>>(
        &self,
        grammar: &Grammar,
        input: &mut I,
    ) -> Option<Syntax<'_>> {
        let mut parser = Parser::new();
        parser.set_language(grammar).ok()?;
        let parser = parser.into_raw();
        let payload = ptr::from_mut(input).cast::<c_void>();
        let source = TSInput {
            payload,
            read: Some(read::<I>),
            encoding: TSInputEncodingUTF8,
            decode: None,
        };
        let options = TSParseOptions {
            payload,
            progress_callback: Some(progress::<I>),
        };
        let mut ended = false;
        // SAFETY: the parser is a new one. The functions get what they expect as payload: the input,
        // which is borrowed for as long.
        let tree = unsafe { metric_code_parse(parser, source, options, &raw mut ended) };
        if ended {
            // The parser is lost.
            return None;
        }
        // SAFETY: the parser is whole, and nobody else has it or the tree.
        unsafe {
            drop(Parser::from_raw(parser));
            (!tree.is_null()).then(|| Syntax {
                tree: Tree::from_raw(tree),
                session: PhantomData,
            })
        }
    }

    /// Bytes that are held and that were asked for.
    pub(crate) fn used(&self) -> (usize, u64) {
        // SAFETY: no function of the arena runs.
        let arena = unsafe { &*self.hooks.arena };
        (arena.held(), arena.asked())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: the thread is not served from the arena any more, and nothing that was allocated there
        // is left: it would have borrowed the session.
        unsafe {
            metric_code_serve(ptr::null());
            let mut arena = Box::from_raw(self.hooks.arena);
            arena.clear(Limit { held: 0, asked: 0 });
            ARENA.set(Some(arena));
        }
    }
}

/// A text that is parsed.
pub(crate) trait Input<'t> {
    /// A piece of the text from a byte on, empty at the end.
    fn read(&mut self, from: usize) -> &'t [u8];
    /// Whether to go on. Asked after every hundred steps with the byte that was reached, and with
    /// whether the parser has nothing but errors.
    fn goes_on(&mut self, at: usize, has_error: bool) -> bool;
}

unsafe extern "C" fn read<'t, I: Input<'t>>(
    payload: *mut c_void,
    from: u32,
    _: TSPoint,
    bytes: *mut u32,
) -> *const c_char {
    // SAFETY: the payload is the input, which nobody else uses now. The piece outlives the input.
    let piece = unsafe { (*payload.cast::<I>()).read(from as usize) };
    // SAFETY: of the caller.
    unsafe { *bytes = u32::try_from(piece.len()).unwrap_or(u32::MAX) };
    piece.as_ptr().cast()
}

unsafe extern "C" fn progress<'t, I: Input<'t>>(state: *mut TSParseState) -> bool {
    // SAFETY: of the caller; the payload is the input, which nobody else uses now.
    unsafe {
        let TSParseState {
            payload,
            current_byte_offset,
            has_error,
        } = *state;
        !(*payload.cast::<I>()).goes_on(current_byte_offset as usize, has_error)
    }
}

/// A syntax tree of tree-sitter in a session.
pub(crate) struct Syntax<'s> {
    tree: Tree,
    session: PhantomData<&'s Session>,
}

impl Syntax<'_> {
    pub(crate) fn has_error(&self) -> bool {
        self.tree.root_node().has_error()
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.tree.root_node().descendant_count()
    }

    pub(crate) fn cursor(&self) -> Cursor<'_> {
        Cursor {
            cursor: self.tree.walk(),
            session: PhantomData,
        }
    }

    /// The tree as tree-sitter writes it. That recurses, on a stack of so many bytes if one is given.
    pub(crate) fn string(&self, stack: Option<usize>) -> String {
        let node = self.tree.root_node();
        match stack {
            Some(bytes) => with_stack(bytes, || string(node)),
            None => string(node),
        }
    }
}

fn string(node: Node<'_>) -> String {
    unsafe extern "C" fn look(payload: *mut c_void, string: *const c_char) {
        // SAFETY: a string that ends with a 0, and the string below.
        unsafe {
            let string = CStr::from_ptr(string).to_string_lossy();
            payload.cast::<String>().write(string.into_owned());
        }
    }
    let mut result = String::new();
    // SAFETY: a node of a tree that is there. Its string is allocated and freed in this call.
    unsafe { metric_code_string(node.into_raw(), look, (&raw mut result).cast()) };
    result
}

/// A node of a [`Syntax`], and the way there.
pub(crate) struct Cursor<'a> {
    cursor: TreeCursor<'a>,
    session: PhantomData<&'a Session>,
}

impl<'a> Cursor<'a> {
    pub(crate) fn node(&self) -> Place<'a> {
        Place(self.cursor.node())
    }

    pub(crate) fn field_id(&self) -> Option<u16> {
        self.cursor.field_id().map(u16::from)
    }

    pub(crate) fn goto_first_child(&mut self) -> bool {
        self.cursor.goto_first_child()
    }

    pub(crate) fn goto_next_sibling(&mut self) -> bool {
        self.cursor.goto_next_sibling()
    }

    pub(crate) fn goto_parent(&mut self) -> bool {
        self.cursor.goto_parent()
    }
}

/// A node, without what would allocate for it.
pub(crate) struct Place<'a>(Node<'a>);

impl Place<'_> {
    pub(crate) fn kind_id(&self) -> u16 {
        self.0.kind_id()
    }

    pub(crate) fn start_byte(&self) -> usize {
        self.0.start_byte()
    }

    pub(crate) fn end_byte(&self) -> usize {
        self.0.end_byte()
    }

    pub(crate) fn is_missing(&self) -> bool {
        self.0.is_missing()
    }

    pub(crate) fn is_extra(&self) -> bool {
        self.0.is_extra()
    }
}
