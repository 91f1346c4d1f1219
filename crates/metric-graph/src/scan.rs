//! Fields and lists, as the typed scanners of labels and frames read them: `None` wherever something is wrong, or rare.

use metric_record::json::scan::Scanner;

/// Puts the value of a field into a place that is empty, as a field that is given twice is an error.
pub(crate) fn once<T>(place: &mut Option<T>, value: Option<T>) -> Option<()> {
    match place {
        Some(_) => None,
        None => {
            *place = Some(value?);
            Some(())
        }
    }
}

/// Takes a list, each of whose items `item` takes.
pub(crate) fn list_of<'a, T>(
    scanner: &mut Scanner<'a>,
    item: impl Fn(&mut Scanner<'a>) -> Option<T>,
) -> Option<Vec<T>> {
    let mut items = Vec::new();
    scanner.list(|scanner| {
        items.push(item(scanner)?);
        Some(())
    })?;
    Some(items)
}
