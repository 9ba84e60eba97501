//! The macros of the crate `calls`, which has them and tells of them.

#![expect(missing_docs, reason = "the crate `calls` tells of the macros")]

mod function;

use function::Function;
use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{
    Data, DeriveInput, Error, Fields, GenericParam, Generics, Ident, ReturnType, Type,
    parse_macro_input, parse_quote,
};

#[proc_macro_attribute]
pub fn action(attributes: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as Function);
    let attributes = Tokens::from(attributes);
    if !attributes.is_empty() {
        return Error::new(attributes.span(), "#[action] takes no arguments")
            .into_compile_error()
            .into();
    }
    expand_action(&function)
        .unwrap_or_else(Error::into_compile_error)
        .into()
}

fn expand_action(function: &Function) -> Result<Tokens, Error> {
    let complain = |span, text| Err(Error::new(span, text));
    if !function.generics.params.is_empty() {
        return complain(
            function.generics.span(),
            "an action has no generic parameters: other processes call it by its name alone",
        );
    }
    if let Some(keyword) = function.qualifier("async") {
        return complain(keyword.span(), "an action is no async function");
    }
    if let Some(keyword) = function.qualifier("unsafe") {
        return complain(keyword.span(), "an action is no unsafe function");
    }
    let (has_here, types) = arguments(function)?;
    let name = &function.name;
    let (visibility, attributes) = (&function.visibility, &function.attributes);
    let output = match &function.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, output) => quote!(#output),
    };
    let names: Vec<_> = (0..types.len())
        .map(|index| format_ident!("argument_{index}"))
        .collect();
    let here = has_here.then(|| quote!(here,));
    // Within the function, its own name is the action's.
    let body = &format_ident!("body_of_{name}");
    let inner = function.renamed(body);
    let text = name.to_string();
    Ok(quote! {
        // A function and a structure with fields: neither keeps other values from having the name.
        #(#attributes)*
        #[inline]
        #visibility fn #name() -> #name {
            #name {}
        }

        #[doc = "The action of this name."]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        #visibility struct #name {}

        const _: () = {
            static ENTRY: ::calls::__private::Entry =
                ::calls::__private::Entry::of::<#name>(concat!(module_path!(), "::", #text));

            ::calls::__private::inventory::submit! {
                ::calls::__private::Registered(&ENTRY)
            }

            impl ::calls::Action for #name {
                type Args = (#(#types,)*);
                type Output = #output;

                fn entry(self) -> &'static ::calls::__private::Entry {
                    &ENTRY
                }

                #[allow(unused_variables)]
                fn here(here: &::calls::Here<'_>, (#(#names,)*): Self::Args) -> Self::Output {
                    #[allow(clippy::needless_pass_by_value)]
                    #inner
                    #body(#here #(#names),*)
                }
            }
        };
    })
}

/// The most arguments of a call: `calls::Arguments` is there for as many.
const MOST_ARGUMENTS: usize = 8;

/// Whether the function wants to know of the circumstances, and the types of its arguments.
fn arguments(function: &Function) -> Result<(bool, Vec<&Type>), Error> {
    let complain = |span, text| Err(Error::new(span, text));
    let mut types = Vec::new();
    let mut has_here = false;
    for (index, argument) in function.arguments.iter().enumerate() {
        let mut words = argument.pattern.clone().into_iter();
        if words.any(|word| word.to_string() == "self") {
            return complain(argument.span(), "an action is no method");
        }
        let Some(of) = &argument.of else {
            return complain(argument.span(), "an argument is a name and a type");
        };
        if index == 0 && is_here(of) {
            has_here = true;
            continue;
        }
        if let Type::Reference(reference) = of {
            return complain(
                reference.span(),
                "an action owns its arguments: a Vec in the place of a slice, a String in that of text",
            );
        }
        types.push(of);
    }
    if types.len() > MOST_ARGUMENTS {
        return complain(
            function.arguments.span(),
            "an action has at most 8 arguments: give more of them as a structure",
        );
    }
    Ok((has_here, types))
}

/// Whether a type is `&Here`, by its name.
fn is_here(of: &Type) -> bool {
    let Type::Reference(reference) = of else {
        return false;
    };
    let Type::Path(path) = &*reference.elem else {
        return false;
    };
    path.path
        .segments
        .last()
        .is_some_and(|last| last.ident == "Here")
}

#[proc_macro_derive(Save, attributes(save))]
pub fn derive_save(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    expand_save(&item)
        .unwrap_or_else(Error::into_compile_error)
        .into()
}

#[proc_macro_derive(Load, attributes(save))]
pub fn derive_load(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    expand_load(&item)
        .unwrap_or_else(Error::into_compile_error)
        .into()
}

/// Whether a type is saved as its bytes.
fn is_pod(item: &DeriveInput) -> Result<bool, Error> {
    let mut is_pod = false;
    for attribute in item.attrs.iter().filter(|one| one.path().is_ident("save")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("pod") {
                is_pod = true;
                Ok(())
            } else {
                Err(meta.error("the one attribute is #[save(pod)]"))
            }
        })?;
    }
    Ok(is_pod)
}

/// The generics, with a bound on each type.
fn bounded(generics: &Generics, bound: &Tokens) -> Generics {
    let mut generics = generics.clone();
    for parameter in &mut generics.params {
        if let GenericParam::Type(parameter) = parameter {
            parameter.bounds.push(parse_quote!(#bound));
        }
    }
    generics
}

/// The fields of a structure or variant: a pattern that binds them, their names and types.
fn fields(fields: &Fields) -> (Tokens, Vec<Ident>, Vec<&Type>) {
    let names: Vec<_> = (0..fields.len())
        .map(|index| format_ident!("field_{index}"))
        .collect();
    let types = fields.iter().map(|field| &field.ty).collect();
    let pattern = match fields {
        Fields::Named(named) => {
            let labels = named.named.iter().map(|field| &field.ident);
            quote!({ #(#labels: #names),* })
        }
        Fields::Unnamed(_) => quote!(( #(#names),* )),
        Fields::Unit => quote!(),
    };
    (pattern, names, types)
}

fn expand_save(item: &DeriveInput) -> Result<Tokens, Error> {
    let name = &item.ident;
    let generics = bounded(&item.generics, &quote!(::calls::Save));
    let (implementation, of, bounds) = generics.split_for_impl();
    let body = if is_pod(item)? {
        quote! {
            const FIXED: ::core::option::Option<usize> =
                ::core::option::Option::Some(::core::mem::size_of::<Self>());

            #[inline]
            fn save<'saved>(&'saved self, to: &mut ::calls::Saver<'saved>) {
                to.bytes(::calls::__private::bytemuck::bytes_of(self));
            }

            fn save_all<'saved>(slice: &'saved [Self], to: &mut ::calls::Saver<'saved>) {
                to.slice(slice);
            }
        }
    } else {
        let mut fixed = quote!(::core::option::Option::None);
        let body = match &item.data {
            Data::Struct(data) => {
                let (pattern, names, types) = fields(&data.fields);
                fixed = quote! {
                    ::calls::__private::fixed(&[#(<#types as ::calls::Save>::FIXED),*])
                };
                quote! {
                    let Self #pattern = self;
                    #(::calls::Save::save(#names, to);)*
                }
            }
            Data::Enum(data) if data.variants.is_empty() => quote!(match *self {}),
            Data::Enum(data) => {
                let arms = data.variants.iter().zip(0_u32..).map(|(variant, number)| {
                    let label = &variant.ident;
                    let (pattern, names, _) = fields(&variant.fields);
                    quote! {
                        Self::#label #pattern => {
                            to.bytes(&u32::to_ne_bytes(#number));
                            #(::calls::Save::save(#names, to);)*
                        }
                    }
                });
                quote!(match self { #(#arms)* })
            }
            Data::Union(_) => return Err(Error::new(name.span(), "a union cannot be saved")),
        };
        quote! {
            const FIXED: ::core::option::Option<usize> = #fixed;

            #[allow(unused_variables)]
            #[inline]
            fn save<'saved>(&'saved self, to: &mut ::calls::Saver<'saved>) {
                #body
            }
        }
    };
    Ok(quote! {
        impl #implementation ::calls::Save for #name #of #bounds {
            #body
        }
    })
}

fn expand_load(item: &DeriveInput) -> Result<Tokens, Error> {
    let name = &item.ident;
    let generics = bounded(&item.generics, &quote!(::calls::Load));
    let (implementation, of, bounds) = generics.split_for_impl();
    let (least, body, more) = if is_pod(item)? {
        let body = quote! {
            let bytes = from.bytes(::core::mem::size_of::<Self>())?;
            Ok(::calls::__private::bytemuck::pod_read_unaligned(bytes))
        };
        let more = quote! {
            fn load_all(
                from: &mut ::calls::Loader<'_, '_>,
            ) -> ::core::result::Result<::std::vec::Vec<Self>, ::calls::LoadError> {
                from.slice()
            }
        };
        (quote!(::core::mem::size_of::<Self>()), body, more)
    } else {
        let (least, body) = match &item.data {
            Data::Struct(data) => {
                let (pattern, names, types) = fields(&data.fields);
                let least = quote!(0 #(+ <#types as ::calls::Load>::LEAST)*);
                let body = quote! {
                    #(let #names = ::calls::Load::load(from)?;)*
                    Ok(Self #pattern)
                };
                (least, body)
            }
            Data::Enum(data) => {
                let arms = data.variants.iter().zip(0_u32..).map(|(variant, number)| {
                    let label = &variant.ident;
                    let (pattern, names, _) = fields(&variant.fields);
                    quote! {
                        #number => {
                            #(let #names = ::calls::Load::load(from)?;)*
                            Ok(Self::#label #pattern)
                        }
                    }
                });
                let text = name.to_string();
                let body = quote! {
                    match u32::from_ne_bytes(from.array()?) {
                        #(#arms)*
                        _ => Err(::calls::LoadError::Value(#text)),
                    }
                };
                (quote!(4), body)
            }
            Data::Union(_) => return Err(Error::new(name.span(), "a union cannot be loaded")),
        };
        (least, body, quote!())
    };
    Ok(quote! {
        impl #implementation ::calls::Load for #name #of #bounds {
            const LEAST: usize = #least;

            #[allow(unused_variables)]
            fn load(
                from: &mut ::calls::Loader<'_, '_>,
            ) -> ::core::result::Result<Self, ::calls::LoadError> {
                #body
            }

            #more
        }
    })
}
