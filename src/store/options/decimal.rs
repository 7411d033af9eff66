//! Decimal text as integers, exactly: prices in nano-dollars, multipliers in millionths. No floating-point number is on the way,
//! since none of them is 0.1.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::platform::database::MAX_INTEGER;

/// What is wrong with a decimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecimalError {
    /// It is no number, or has a sign, an exponent, a currency or a separator.
    NotANumber,
    /// It has more digits after the point than are counted.
    TooManyDigits(usize),
    /// It is more than can be counted: this, in whole units.
    TooLarge(u64),
    /// It has a fraction and is written as a number, which is not exact.
    NotText,
}

impl fmt::Display for DecimalError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotANumber => formatter.write_str(
                "expected digits, or digits with a point such as 0.25: no sign, exponent, currency or comma",
            ),
            Self::TooManyDigits(places) => {
                write!(formatter, "has more than {places} digits after the point, of which none is kept: round it")
            }
            Self::TooLarge(most) => write!(formatter, "is more than {most}, the most that can be counted"),
            Self::NotText => formatter.write_str("is a number with a fraction, which is not exact: put it in quotes"),
        }
    }
}

impl std::error::Error for DecimalError {}

/// Reads a decimal as a count of its smallest units, of which `10^places` make one.
fn read(text: &str, places: usize, most: u64) -> Result<u64, DecimalError> {
    let too_large = DecimalError::TooLarge(most / unit(places));
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(fraction) {
        return Err(DecimalError::NotANumber);
    }
    // Zeros at the end say nothing.
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > places {
        return Err(DecimalError::TooManyDigits(places));
    }
    let padding = std::iter::repeat_n(b'0', places - fraction.len());
    let mut units = 0u64;
    for digit in whole.bytes().chain(fraction.bytes()).chain(padding) {
        units = units.checked_mul(10).and_then(|units| units.checked_add(u64::from(digit - b'0'))).ok_or(too_large)?;
    }
    if units > most { Err(too_large) } else { Ok(units) }
}

/// Writes it with as few digits as are needed.
fn write(units: u64, places: usize, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (whole, fraction) = (units / unit(places), units % unit(places));
    if fraction == 0 {
        return write!(formatter, "{whole}");
    }
    let digits = format!("{fraction:0places$}");
    write!(formatter, "{whole}.{}", digits.trim_end_matches('0'))
}

fn unit(places: usize) -> u64 {
    10u64.pow(places as u32)
}

/// A decimal that is read from text.
trait Decimal: Sized {
    /// How many digits after the point count.
    const PLACES: usize;
    /// The most that it can be, in its smallest units.
    const MOST: u64;
    /// What it is, for messages.
    const NAME: &'static str;

    fn of(units: u64) -> Self;
}

struct Reader<D>(PhantomData<D>);

impl<D: Decimal> Visitor<'_> for Reader<D> {
    type Value = D;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, as text", D::NAME)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<D, E> {
        read(text, D::PLACES, D::MOST).map(D::of).map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, whole: u64) -> Result<D, E> {
        let too_large = || E::custom(DecimalError::TooLarge(D::MOST / unit(D::PLACES)));
        whole.checked_mul(unit(D::PLACES)).filter(|units| *units <= D::MOST).map(D::of).ok_or_else(too_large)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<D, E> {
        Err(E::custom(DecimalError::NotANumber))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<D, E> {
        Err(E::custom(DecimalError::NotText))
    }
}

macro_rules! decimal {
    ($type:ident, $places:literal, $most:expr, $name:literal) => {
        impl Decimal for $type {
            const PLACES: usize = $places;
            const MOST: u64 = $most;
            const NAME: &'static str = $name;

            fn of(units: u64) -> Self {
                Self(units)
            }
        }

        impl std::str::FromStr for $type {
            type Err = DecimalError;

            fn from_str(text: &str) -> Result<Self, DecimalError> {
                read(text, Self::PLACES, Self::MOST).map(Self)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write(self.0, Self::PLACES, formatter)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Reader::<Self>(PhantomData))
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "description": concat!("It is ", $name, ". One with a fraction is text, so that it is exact."),
                    "type": ["string", "integer"],
                    "pattern": concat!("^[0-9]+([.][0-9]{1,", stringify!($places), "}0*)?$"),
                    "minimum": 0,
                })
            }
        }
    };
}

/// An amount of US dollars, in nano-dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Price(u64);

impl Price {
    /// The amount in nano-dollars, of which 10^9 make a dollar.
    pub fn nanos(self) -> u64 {
        self.0
    }
}

decimal!(Price, 9, MAX_INTEGER.unsigned_abs(), "an amount of US dollars with at most 9 digits after the point");

/// How many times a price is to be paid, in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Multiplier(u64);

impl Multiplier {
    /// It in millionths.
    pub fn millionths(self) -> u64 {
        self.0
    }
}

impl Default for Multiplier {
    fn default() -> Self {
        Self(1_000_000)
    }
}

decimal!(Multiplier, 6, 1_000_000_000, "a number from 0 to 1000 with at most 6 digits after the point");

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimals_are_read_exactly() {
        let cases = [
            ("3", 3_000_000_000, "3"),
            ("3.00", 3_000_000_000, "3"),
            ("0", 0, "0"),
            ("0.1", 100_000_000, "0.1"),
            ("0.075", 75_000_000, "0.075"),
            ("0.000000001", 1, "0.000000001"),
            ("0003.75", 3_750_000_000, "3.75"),
            ("1.0000000000000", 1_000_000_000, "1"),
            ("9007199.254740991", 9_007_199_254_740_991, "9007199.254740991"),
        ];
        for (text, nanos, written) in cases {
            let price: Price = text.parse().unwrap();
            assert_eq!((price.nanos(), price.to_string().as_str()), (nanos, written), "{text}");
        }
    }

    #[test]
    fn what_is_no_price_is_refused() {
        let cases = [
            ("", DecimalError::NotANumber),
            (".", DecimalError::NotANumber),
            (".5", DecimalError::NotANumber),
            ("5.", DecimalError::NotANumber),
            ("-1", DecimalError::NotANumber),
            ("+1", DecimalError::NotANumber),
            ("1e3", DecimalError::NotANumber),
            ("1,5", DecimalError::NotANumber),
            ("1_000", DecimalError::NotANumber),
            ("$3", DecimalError::NotANumber),
            (" 3", DecimalError::NotANumber),
            ("1.2.3", DecimalError::NotANumber),
            ("٣", DecimalError::NotANumber),
            ("0.0000000001", DecimalError::TooManyDigits(9)),
            ("1.00000000010", DecimalError::TooManyDigits(9)),
            ("9007199.254740992", DecimalError::TooLarge(9_007_199)),
            ("99999999999999999999999", DecimalError::TooLarge(9_007_199)),
        ];
        for (text, error) in cases {
            assert_eq!(text.parse::<Price>(), Err(error), "{text}");
        }
        assert_eq!("0.0000001".parse::<Multiplier>(), Err(DecimalError::TooManyDigits(6)));
        assert_eq!("1000.000001".parse::<Multiplier>(), Err(DecimalError::TooLarge(1000)));
    }

    #[test]
    fn documents_have_text_or_whole_numbers() {
        let read = |json: &str| serde_json::from_str::<Price>(json);
        assert_eq!(read(r#""0.25""#).unwrap().nanos(), 250_000_000);
        assert_eq!(read("3").unwrap().nanos(), 3_000_000_000);
        for (json, part) in [
            ("0.25", "put it in quotes"),
            ("-3", "no sign"),
            ("18446744073709551615", "more than 9007199"),
            (r#""0.0000000001""#, "more than 9 digits after the point"),
            ("null", "an amount of US dollars"),
        ] {
            let message = read(json).unwrap_err().to_string();
            assert!(message.contains(part), "{json}: {message}");
        }
        assert_eq!(serde_json::to_string(&"0.250".parse::<Price>().unwrap()).unwrap(), r#""0.25""#);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(nanos in 0..=MAX_INTEGER.unsigned_abs()) {
            prop_assert_eq!(Price(nanos).to_string().parse::<Price>(), Ok(Price(nanos)));
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = text.parse::<Price>();
        }
    }
}
