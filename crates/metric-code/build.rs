//! Compiles the allocation hooks of the parser.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=src/bounded/hooks.c");
    let mut hooks = cc::Build::new();
    hooks.std("c11").file("src/bounded/hooks.c");
    // Set by the build script of tree-sitter.
    if let Some(headers) = env::var_os("DEP_TREE_SITTER_INCLUDE") {
        hooks.include(headers);
    }
    hooks.compile("metric_code_hooks");
}
