/** How a generator of one language ended. */
export type Generated =
  | { readonly kind: "made" }
  | { readonly kind: "skipped"; readonly why: string }
  | { readonly kind: "failed"; readonly output: string };
