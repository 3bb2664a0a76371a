//! What a person only does, as opposed to what a page shows: requests that a page sends when it is told to, and what
//! reads their answers. All of it is one part, fetched with the first of these functions that is called.

/// Defines a function whose code is in that part: `async fn NAME(…) -> … = DOES;`, where `DOES` does it.
macro_rules! act {
    (
        $(#[$about:meta])*
        $vis:vis async fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $answer:ty = $does:path;
    ) => {
        $(#[$about])*
        #[::leptos::wasm_split::wasm_split(
            acts,
            wasm_split_path = ::leptos::wasm_split,
            return_wrapper(let answer = _; { answer.await } -> $answer),
        )]
        $vis fn $name(
            $($argument: $type),*
        ) -> ::std::pin::Pin<::std::boxed::Box<dyn ::std::future::Future<Output = $answer> + Send + Sync>> {
            ::std::boxed::Box::pin(::leptos::__reexports::send_wrapper::SendWrapper::new($does($($argument),*)))
        }
    };
}
