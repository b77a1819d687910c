/** Parsers for flag values. Commander reports their errors. */
import { InvalidArgumentError } from 'commander';

/** Wraps a parser that throws as a commander argument parser. */
export const flagParser =
  <T>(read: (text: string) => T) =>
  (text: string): T => {
    try {
      return read(text);
    } catch (error) {
      throw new InvalidArgumentError((error as Error).message);
    }
  };

/** Parses an integer; underscores may group digits. */
export const parseInteger = flagParser((text: string) => {
  const value = Number(text.replaceAll('_', ''));
  if (!/^-?\d[\d_]*$/.test(text) || !Number.isSafeInteger(value)) throw new Error('It must be a whole number.');
  return value;
});
