/** The file name of a response. It is only displayed and never used as a path. */
import { utf8Of } from './redirect.ts';

const MAX_LENGTH = 255;

/** The name in Content-Disposition (RFC 6266), or else the last segment of the URL, or else undefined. */
export function fileNameOf(url: string | URL, contentDisposition?: string): string | undefined {
  return cleaned(dispositionName(contentDisposition ?? '')) ?? cleaned(lastSegment(new URL(url)));
}

function dispositionName(header: string): string | undefined {
  const extended = /(?:^|[;\s])filename\*\s*=\s*([\w-]+)'[\w-]*'([^\s;]+)/i.exec(header.slice(0, 4_096));
  const decoded = extended && percentDecoded(extended[2]!, extended[1]!);
  if (decoded) return decoded;
  const plain = /(?:^|[;\s])filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]+))/i.exec(header.slice(0, 4_096));
  if (!plain) return undefined;
  const text = utf8Of(plain[1]?.replace(/\\(.)/g, '$1') ?? plain[2]!.trim());
  // The standard does not allow it, but many servers percent-encode the name, and browsers decode it.
  return /%[0-9a-f]{2}/i.test(text) ? (percentDecoded(text, 'utf-8') ?? text) : text;
}

/**
 * Decodes percent-encoded text (RFC 8187). Returns undefined if the charset is unknown or the bytes are not valid in
 * it.
 */
function percentDecoded(text: string, charset: string): string | undefined {
  try {
    const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    return new TextDecoder(charset, { fatal: true }).decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return undefined;
  }
}

const lastSegment = (url: URL): string | undefined => {
  const segment = url.pathname.split('/').findLast(Boolean) ?? '';
  return percentDecoded(segment, 'utf-8') ?? segment;
};

/** The part after the last slash or backslash, without invisible characters. */
function cleaned(name: string | undefined): string | undefined {
  const last = name?.split(/[\\/]/).findLast((part) => part.trim());
  const plain = last?.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, '').trim();
  return plain && !/^\.+$/.test(plain) ? [...plain].slice(0, MAX_LENGTH).join('') : undefined;
}
