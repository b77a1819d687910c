/**
 * Whether a text is a URL. In Node 20, `URL.canParse` rejects Latin-1 letters (`http://bücher.example/`) once it has
 * been called so often that V8 compiles the call, because its fast path reads the bytes as UTF-8.
 */
export function isUrl(text: string, base?: string | URL): boolean {
  try {
    new URL(text, base);
    return true;
  } catch {
    return false;
  }
}
