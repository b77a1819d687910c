/**
 * Builds a multipart form with a file (RFC 7578), which avoids the overhead of base64 in JSON (one third). The form is
 * a Blob, because a FormData works only with the `fetch` of the same platform. If the file is a Blob, it is read while
 * it is sent.
 */
export function multipartOf(fields: object, file: Uint8Array | Blob, name?: string): Blob {
  const boundary = `lectern-${randomHex()}`;
  const head = (disposition: string, type?: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}${type ? `\r\nContent-Type: ${type}` : ''}\r\n\r\n`;
  const parts: string[] = [];
  const add = (field: string, value: unknown) => parts.push(`${head(`name="${quoted(field)}"`)}${textOf(value)}\r\n`);
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue;
    if (Array.isArray(value)) for (const one of value) add(`${field}[]`, one);
    else add(field, value);
  }
  const { type, name: own } = file as Partial<File>;
  const disposition = `name="file"; filename="${quoted(name ?? own ?? 'file')}"`;
  const fileHead = head(disposition, type || 'application/octet-stream');
  const pieces = [parts.join('') + fileHead, file as Blob | Uint8Array<ArrayBuffer>, `\r\n--${boundary}--\r\n`];
  return new Blob(pieces, { type: `multipart/form-data; boundary=${boundary}` });
}

/**
 * A random string, so that the file cannot contain the boundary. `randomUUID` is not available on pages without TLS.
 */
const randomHex = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

const textOf = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** Escapes names in the same way as browsers (HTML standard, section 4.10.21.8). */
const quoted = (text: string) => text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
