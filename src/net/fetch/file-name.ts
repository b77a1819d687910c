/** What a file is called that a server sends: data to show, never a path. */
import { utf8Of } from './redirect.ts';

const MAX_LENGTH = 255;

/** The name of Content-Disposition (RFC 6266), else the last part of the address; undefined when neither has one. */
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
  // Not in the standard, and yet what many servers send and browsers understand.
  return /%[0-9a-f]{2}/i.test(text) ? (percentDecoded(text, 'utf-8') ?? text) : text;
}

/** RFC 8187: bytes of the named encoding. Undefined: it is not known, or the bytes are not in it. */
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

/** The last part only, whatever kind of slash parts it, without what does not show. */
function cleaned(name: string | undefined): string | undefined {
  const last = name?.split(/[\\/]/).findLast((part) => part.trim());
  const plain = last?.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, '').trim();
  return plain && !/^\.+$/.test(plain) ? [...plain].slice(0, MAX_LENGTH).join('') : undefined;
}
