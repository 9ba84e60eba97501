//! Variables of the environment whose values are words of a list: among them those by which users of
//! all layers above choose how processes reach each other.

/// Value of a variable that is none of the words of its list.
///
/// ```
/// let error = fi_provider::variables::of_words("COLOUR", "blue", &[("red", 1), ("green", 2)]);
/// let text = error.unwrap_err().to_string();
/// assert_eq!(text, "COLOUR=\"blue\" is none of red and green");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable}={value:?} is none of {words}")]
pub struct NoneOf {
    variable: &'static str,
    value: String,
    words: String,
}

/// Returns the value of a variable that is set, and not empty.
pub fn value(variable: &str) -> Option<String> {
    let value = std::env::var_os(variable).map(|value| value.to_string_lossy().into_owned());
    value.filter(|text| !text.is_empty())
}

/// Returns the choice that the value of `variable` names; the first of `choices` where it is not set
/// or empty.
///
/// # Errors
/// [`NoneOf`] where it names none.
pub fn choice<T: Copy>(variable: &'static str, choices: &[(&str, T)]) -> Result<T, NoneOf> {
    of_words(variable, &value(variable).unwrap_or_default(), choices)
}

/// Returns the choice that the value `text` of `variable` names; the first of `choices` where it is
/// empty.
///
/// # Errors
/// [`NoneOf`] where it names none.
pub fn of_words<T: Copy>(
    variable: &'static str,
    text: &str,
    choices: &[(&str, T)],
) -> Result<T, NoneOf> {
    let mut all = choices.iter();
    match all.find(|(name, _)| text.is_empty() || *name == text) {
        Some((_, choice)) => Ok(*choice),
        None => Err(NoneOf {
            variable,
            value: text.to_owned(),
            words: list(choices.iter().map(|(name, _)| *name)),
        }),
    }
}

/// Returns these words as `a, b and c`; an empty one, which stands for a default, is none.
pub fn list<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words = words.into_iter().filter(|word| !word.is_empty());
    match &*words.collect::<Vec<_>>() {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        words => words.concat(),
    }
}

/// Fabrics by which processes may reach each other (FARREACH_FABRIC).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fabric {
    /// Shared memory on a node, and where there are several an mlx5 device, or else libfabric.
    Auto,
    /// Shared memory only.
    Shm,
    /// As `Auto`, but between nodes an mlx5 device alone.
    Mlx5,
    /// As `Auto`, but between nodes a provider of libfabric alone.
    Libfabric,
}

/// Returns the fabric (FARREACH_FABRIC).
///
/// # Errors
/// [`NoneOf`].
pub fn fabric() -> Result<Fabric, NoneOf> {
    choice(
        "FARREACH_FABRIC",
        &[
            ("auto", Fabric::Auto),
            ("shm", Fabric::Shm),
            ("mlx5", Fabric::Mlx5),
            ("libfabric", Fabric::Libfabric),
        ],
    )
}

/// Returns the transport over a device (FARREACH_TRANSPORT), of those for `auto`, `rc` and `dc`.
///
/// # Errors
/// [`NoneOf`].
pub fn transport<T: Copy>(auto: T, rc: T, dc: T) -> Result<T, NoneOf> {
    choice(
        "FARREACH_TRANSPORT",
        &[("auto", auto), ("rc", rc), ("dc", dc)],
    )
}

/// Returns the provider of libfabric to take (FARREACH_LIBFABRIC_PROVIDER); the best where it is not
/// set.
pub fn libfabric_provider() -> Option<String> {
    value("FARREACH_LIBFABRIC_PROVIDER")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_a_word_of_the_list_or_its_first() {
        let choices = [("auto", 1), ("shm", 2), ("mlx5", 3)];
        let chosen = |text: &str| of_words("FABRIC", text, &choices);
        assert_eq!(chosen(""), Ok(1));
        assert_eq!(chosen("auto"), Ok(1));
        assert_eq!(chosen("shm"), Ok(2));
        for wrong in ["SHM", "tcp"] {
            let text = chosen(wrong).unwrap_err().to_string();
            let wanted = format!("FABRIC=\"{wrong}\" is none of auto, shm and mlx5");
            assert_eq!(text, wanted);
        }
    }

    #[test]
    fn a_default_without_a_name_is_not_listed() {
        assert_eq!(list(["", "own", "shared"]), "own and shared");
        assert_eq!(list(["own"]), "own");
        assert_eq!(list([]), "");
    }
}
