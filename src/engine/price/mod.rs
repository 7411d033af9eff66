//! What a call costs: rules that an operator wrote, else the catalogue of the vendors' list prices, applied to what was used.
//!
//! [`resolve`] finds the prices for a model at a provider and says why, [`price`] applies them. Both are pure. Money is an integer
//! number of nano-dollars; the product of amount and price is exact and is rounded once for each [`Dimension`], half to even.

mod catalogue;
mod cost;
mod dimension;
mod glob;
mod rates;
mod resolve;
mod rule;
mod schedule;

pub use catalogue::{Catalogue, CatalogueError, Entry, Found, NameForm};
pub use cost::{Cost, Extras, price};
pub use dimension::Dimension;
pub use glob::{Glob, Specificity};
pub use rates::Rates;
pub use resolve::{Match, Origin, Resolution, resolve};
pub use rule::{PriceRule, Rules};
pub use schedule::{Applied, Schedule};
