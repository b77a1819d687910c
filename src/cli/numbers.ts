/** Values of flags, read and refused by commander. */
import { InvalidArgumentError } from 'commander';

/** Makes a reader of option values out of one that throws. */
export const flagParser =
  <T>(read: (text: string) => T) =>
  (text: string): T => {
    try {
      return read(text);
    } catch (error) {
      throw new InvalidArgumentError((error as Error).message);
    }
  };

/** A whole number. */
export const parseInteger = flagParser((text: string) => {
  const value = Number(text.replaceAll('_', ''));
  if (!/^-?\d[\d_]*$/.test(text) || !Number.isSafeInteger(value)) throw new Error('It must be a whole number.');
  return value;
});
