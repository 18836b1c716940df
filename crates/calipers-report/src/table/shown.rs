//! What a table shows of a report, and how.

/// How much of a report a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// The numbers that the metric table wants shown first, and one table of labels.
    Headline,
    /// Every number of a report that holds what was chosen, in its order.
    Selected,
    /// Every number under its heading.
    Everything,
}

/// How an interval stands beside its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// Both ends in brackets.
    #[default]
    Brackets,
    /// The distance of the farther end behind a plus-minus sign.
    PlusMinus,
}

/// What a table shows, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// How much of a report.
    pub amount: Amount,
    /// How intervals are written.
    pub spread: Spread,
}

impl From<Amount> for Shown {
    fn from(amount: Amount) -> Self {
        Self { amount, spread: Spread::default() }
    }
}

impl Spread {
    /// What is said below a table that is not read at a glance.
    pub(crate) fn note(self) -> Option<String> {
        (self == Self::PlusMinus).then(|| "Behind ± stands the distance of the farther end.".to_owned())
    }
}
