//! The beta distribution, also for the large parameters that come from large samples.

/// The largest number of terms of the continued fraction: about the root of the larger parameter
/// suffices.
const MOST_TERMS: u32 = 1_000_000;

/// Returns the regularized incomplete beta function `I_x(a, b)`, for positive parameters.
///
/// By Lentz's evaluation of the continued fraction, *Numerical Recipes*, section 6.4.
pub(crate) fn beta_cdf(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges quickly on this side of the mean.
    if x < (a + 1.0) / (a + b + 2.0) {
        power_term(a, b, x) * continued_fraction(a, b, x) / a
    } else {
        1.0 - power_term(a, b, x) * continued_fraction(b, a, 1.0 - x) / b
    }
}

fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let above = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / above(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for term in 1..MOST_TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut step = 1.0;
        for coefficient in [even, odd] {
            d = 1.0 / above(1.0 + coefficient * d);
            c = above(1.0 + coefficient / c);
            step = c * d;
            value *= step;
        }
        if (step - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    value
}

/// `x^a (1 - x)^b / B(a, b)`.
///
/// In the form of C. Loader, *Fast and accurate computation of binomial probabilities* (2000), which does
/// not subtract large logarithms.
fn power_term(a: f64, b: f64, x: f64) -> f64 {
    let n = a + b;
    let excess = x * n - a;
    let deviance = a * (excess / a).ln_1p() + b * (-excess / b).ln_1p();
    let scale = (a * b / n / std::f64::consts::TAU).sqrt();
    scale * (deviance + stirling_error(n) - stirling_error(a) - stirling_error(b)).exp()
}

/// `ln Γ(x)` minus Stirling's approximation of it.
fn stirling_error(x: f64) -> f64 {
    if x < 15.0 {
        // Γ(x) = Γ(x + n) / (x (x + 1) ... (x + n - 1)), with x + n in the range of the series.
        let steps = (15.0 - x).ceil();
        let moved = x + steps;
        let mut product = 1.0;
        let mut factor = x;
        while factor < moved - 0.5 {
            product *= factor;
            factor += 1.0;
        }
        return stirling(moved) + stirling_error(moved) - product.ln() - stirling(x);
    }
    let square = x * x;
    (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / 1188.0 / square) / square) / square)
            / square)
        / x
}

fn stirling(x: f64) -> f64 {
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln()
}

/// Returns the quantile of a beta distribution, by Newton's steps within a bracket.
pub(crate) fn beta_quantile(a: f64, b: f64, probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    let mut x = a / (a + b);
    for _ in 0..200 {
        let error = beta_cdf(a, b, x) - probability;
        if error > 0.0 {
            high = x;
        } else {
            low = x;
        }
        let density = power_term(a, b, x) / (x * (1.0 - x));
        let newton = x - error / density;
        let next = if newton > low && newton < high {
            newton
        } else {
            (low + high) / 2.0
        };
        if (next - x).abs() <= x * f64::EPSILON {
            return next;
        }
        x = next;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() <= expected * 1e-12,
            "{found} {expected}"
        );
    }

    #[test]
    fn closed_forms() {
        for x in [0.001, 0.3, 0.5, 0.9, 0.9999] {
            // I_x(a, 1) = x^a, and I_x(1, b) = 1 - (1 - x)^b.
            for power in [1.0, 2.0, 7.5, 300.0] {
                near(beta_cdf(power, 1.0, x), x.powf(power));
                near(beta_cdf(1.0, power, x), -((-x).ln_1p() * power).exp_m1());
            }
            // P(X >= 2) of 3.
            near(beta_cdf(2.0, 2.0, x), x * x * (3.0 - 2.0 * x));
        }
        near(beta_cdf(1e7, 1e7, 0.5), 0.5);
    }

    #[test]
    fn quantiles_invert() {
        for (a, b) in [(2.0, 3.0), (2.0, 1e6), (1e6, 2.0), (5e5, 7e5), (2.0, 2.0)] {
            for probability in [0.0005, 0.025, 0.5, 0.975, 0.9995] {
                let x = beta_quantile(a, b, probability);
                // Near 1, neighboring doubles are that far apart.
                let error = (beta_cdf(a, b, x) - probability).abs();
                assert!(error < 1e-10, "{a} {b} {probability}: {error}");
            }
        }
    }
}
