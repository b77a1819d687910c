/**
 * Whether a text is a URL. `URL.canParse` of Node 20 refuses letters of Latin-1 (`http://bücher.example/`) once it has been
 * called so often that V8 compiles the call: its fast path reads the bytes as UTF-8.
 */
export function isUrl(text: string, base?: string | URL): boolean {
  try {
    new URL(text, base);
    return true;
  } catch {
    return false;
  }
}
