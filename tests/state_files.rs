//! State files that were changed.
