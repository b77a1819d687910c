// The sizes that the package must not exceed. docs/decisions/0023-what-the-package-contains.md lists what takes them.

/** Size of the archive of `lectern`. */
export const MAX_PACKED_BYTES = 12_000_000;
/** Size of the archive of `lectern-models`, which is downloaded again only if its version changes. */
export const MAX_MODELS_PACKED_BYTES = 32_000_000;
/** Size of all files of an installation without development dependencies, on Linux. */
export const MAX_INSTALLED_BYTES = 250_000_000;
