//! Samples of the data of a metric.

/// A pair of sample files and how they are scored. The program `metric` has the files.
#[derive(Clone, Copy, Debug)]
pub struct Demo {
    /// What the samples are.
    pub name: &'static str,
    /// The name of the file of references, which is empty where there are none, then the name of the file of predictions.
    pub files: [&'static str; 2],
    /// The options of the metric; a flag has no value.
    pub options: &'static [(&'static str, &'static str)],
    /// The scores that are shown of those that the metric has; none if the same files are shown with another metric.
    pub shown: &'static [&'static str],
}

impl Demo {
    /// Returns samples that are scored without options.
    #[must_use]
    pub const fn new(
        name: &'static str,
        files: [&'static str; 2],
        shown: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            files,
            options: &[],
            shown,
        }
    }

    /// Returns the same samples with options.
    #[must_use]
    pub const fn with(self, options: &'static [(&'static str, &'static str)]) -> Self {
        Self { options, ..self }
    }
}
