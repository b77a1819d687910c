/** Warnings about sheets. */

export const quoted = (name: string): string => `“${name.replace(/\s+/g, ' ')}”`;

export const tooLarge = (name: string): string =>
  `The sheet ${quoted(name)} is too large to be shown in full: its end is missing`;
