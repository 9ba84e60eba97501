//! The function that becomes an action, as far as the macro asks for its parts: the others stay
//! tokens. So syn does without its feature `full`, which takes longer to build, and which would
//! have all crates with macros built again for those that call.

use proc_macro2::{Group, Ident, TokenStream as Tokens, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Generics, ReturnType, Token, Type, Visibility, parenthesized};

/// A function with its body.
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    /// The words before `fn`, as `const`.
    pub(crate) qualifiers: Vec<TokenTree>,
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    pub(crate) arguments: Punctuated<Argument, Token![,]>,
    pub(crate) output: ReturnType,
    pub(crate) body: Group,
}

/// An argument: its attributes and pattern, and its type, which `self` may lack. A comma
/// ends a pattern, also one between `<` and `>`.
pub(crate) struct Argument {
    pub(crate) pattern: Tokens,
    pub(crate) of: Option<Type>,
}

impl Function {
    /// Returns the function by another name, without attributes and private.
    pub(crate) fn renamed(&self, name: &Ident) -> Tokens {
        let Self {
            qualifiers,
            generics,
            arguments,
            output,
            body,
            ..
        } = self;
        let bounds = &generics.where_clause;
        quote!(#(#qualifiers)* fn #name #generics (#arguments) #output #bounds #body)
    }

    /// Returns the word before `fn` of this text.
    pub(crate) fn qualifier(&self, text: &str) -> Option<&TokenTree> {
        let is_it = |word: &&TokenTree| matches!(word, TokenTree::Ident(word) if word == text);
        self.qualifiers.iter().find(is_it)
    }
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let mut qualifiers = Vec::new();
        while !input.peek(Token![fn]) {
            if input.is_empty() {
                return Err(input.error("expected `fn`"));
            }
            qualifiers.push(input.parse()?);
        }
        input.parse::<Token![fn]>()?;
        let name = input.parse()?;
        let mut generics: Generics = input.parse()?;
        let within;
        parenthesized!(within in input);
        let arguments = Punctuated::parse_terminated(&within)?;
        let output = input.parse()?;
        generics.where_clause = input.parse()?;
        Ok(Self {
            attributes,
            visibility,
            qualifiers,
            name,
            generics,
            arguments,
            output,
            body: input.parse()?,
        })
    }
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut pattern = Tokens::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            if input.peek(Token![::]) {
                input.parse::<Token![::]>()?.to_tokens(&mut pattern);
            } else if input.peek(Token![:]) {
                input.parse::<Token![:]>()?;
                let of = Some(input.parse()?);
                return Ok(Self { pattern, of });
            } else {
                input.parse::<TokenTree>()?.to_tokens(&mut pattern);
            }
        }
        Ok(Self { pattern, of: None })
    }
}

impl ToTokens for Argument {
    fn to_tokens(&self, tokens: &mut Tokens) {
        let Self { pattern, of } = self;
        let of = of.as_ref().map(|of| quote!(: #of));
        tokens.extend(quote!(#pattern #of));
    }
}
