// The allocation hooks of tree-sitter, and the calls that they can end.
//
// Rust cannot leave a C function in the middle; `longjmp` can. It is called here and passes over
// frames of tree-sitter alone: the functions that Rust gives return to these hooks before. See
// `mod.rs` for why this is sound.

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <tree_sitter/api.h>

#if defined(_MSC_VER)
#define THREAD_LOCAL __declspec(thread)
#else
#define THREAD_LOCAL _Thread_local
#endif

// The variables that `ts_set_allocator` sets.
extern void *(*ts_current_malloc)(size_t);
extern void *(*ts_current_calloc)(size_t, size_t);
extern void *(*ts_current_realloc)(void *, size_t);
extern void (*ts_current_free)(void *);

// `Hooks` in `mod.rs`. The first two return null where the limit is reached and `may_stop`.
typedef struct {
  void *arena;
  void *(*allocate)(void *arena, size_t size, bool may_stop);
  void *(*reallocate)(void *arena, void *block, size_t size, bool may_stop);
  void (*release)(void *arena, void *block);
} Hooks;

// What serves this thread, or null: then that is who served it before.
static THREAD_LOCAL const Hooks *hooks;
// Where a call goes on that is ended, or null if none may be.
static THREAD_LOCAL jmp_buf *end;

static void *(*previous_malloc)(size_t);
static void *(*previous_calloc)(size_t, size_t);
static void *(*previous_realloc)(void *, size_t);
static void (*previous_free)(void *);

static void *or_end(void *block) {
  if (!block) longjmp(*end, 1);
  return block;
}

static void *hook_malloc(size_t size) {
  if (!hooks) return previous_malloc(size);
  return or_end(hooks->allocate(hooks->arena, size, end != NULL));
}

static void *hook_calloc(size_t count, size_t size) {
  if (!hooks) return previous_calloc(count, size);
  // As much as nobody has, rather than less than what is asked for.
  size_t bytes = size && count > SIZE_MAX / size ? SIZE_MAX : count * size;
  return memset(or_end(hooks->allocate(hooks->arena, bytes, end != NULL)), 0, bytes);
}

static void *hook_realloc(void *block, size_t size) {
  if (!hooks) return previous_realloc(block, size);
  if (!block) return hook_malloc(size);
  return or_end(hooks->reallocate(hooks->arena, block, size, end != NULL));
}

static void hook_free(void *block) {
  if (!hooks) {
    previous_free(block);
  } else if (block) {
    hooks->release(hooks->arena, block);
  }
}

// Before `main`, or before `dlopen` returns: no other thread can be in this copy of tree-sitter.
#if defined(_MSC_VER)
static void install(void);
#pragma section(".CRT$XCU", read)
__declspec(allocate(".CRT$XCU")) void (*metric_code_install)(void) = install;
static void install(void) {
#else
__attribute__((constructor)) static void install(void) {
#endif
  previous_malloc = ts_current_malloc;
  previous_calloc = ts_current_calloc;
  previous_realloc = ts_current_realloc;
  previous_free = ts_current_free;
  ts_set_allocator(hook_malloc, hook_calloc, hook_realloc, hook_free);
}

// Serves this thread from now on; returns what did.
const Hooks *metric_code_serve(const Hooks *next) {
  const Hooks *previous = hooks;
  hooks = next;
  return previous;
}

// Returns null if the parser was ended by its progress callback, and null and `*ended` if by the
// limit of memory. In the latter case the parser may be used no more, not even to delete it.
TSTree *metric_code_parse(TSParser *parser, TSInput input, TSParseOptions options, bool *ended) {
  jmp_buf here;
  *ended = true;
  if (setjmp(here)) {
    end = NULL;
    return NULL;
  }
  end = &here;
  TSTree *tree = ts_parser_parse_with_options(parser, NULL, input, options);
  end = NULL;
  *ended = false;
  return tree;
}

// Gives the string of a node to a function, and frees it.
void metric_code_string(TSNode node, void (*look)(void *payload, const char *string), void *payload) {
  char *string = ts_node_string(node);
  look(payload, string);
  ts_current_free(string);
}
