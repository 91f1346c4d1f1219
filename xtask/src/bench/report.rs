//! Figures as people read them.

/// A time with three digits and its unit.
pub(crate) fn seconds(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s if s >= 1e-6 => (s * 1e6, "us"),
        s => (s * 1e9, "ns"),
    };
    format!("{} {unit}", digits(value))
}

/// A positive number with about three digits that count, and no more than it has.
pub(crate) fn digits(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// The median of some figures; of an even number the mean of the middle two.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    Some((values.get(middle.checked_sub(1)?)? + upper) / 2.0)
}

/// The days since 1970 as a date, 2026-11-21.
pub(crate) fn date(days: i64) -> String {
    // Howard Hinnant's civil_from_days, https://howardhinnant.github.io/date_algorithms.html
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        assert_eq!(seconds(34.56), "34.6 s");
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(4.5e-6), "4.50 us");
        assert_eq!(seconds(2.5e-8), "25.0 ns");
        assert_eq!(digits(1234.5), "1234");
    }

    #[test]
    fn medians() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
    }

    #[test]
    fn dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(-1), "1969-12-31");
        // 30 years of 365 days, 7 leap days before 2000, then January and 29 days of February.
        assert_eq!(date(30 * 365 + 7 + 31 + 28), "2000-02-29");
    }
}
