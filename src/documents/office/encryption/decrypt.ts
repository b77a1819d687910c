/** Decrypts Office packages (DOCX, XLSX, PPTX) that need a password. Each is an OLE file around the encrypted package. */
import { openOle } from '../../archive/ole.ts';
import { DocumentError } from '../../document.ts';
import { passwordError } from '../../password-error.ts';
import { packageDecrypter } from './package-key.ts';

/** Excel encrypts workbooks with this password if the author protected only their structure (MS-OFFCRYPTO 2.4.2.3). */
const DEFAULT_PASSWORD = 'VelvetSweatshop';

/** The decrypted package. Throws DocumentError. */
export function decryptPackage(bytes: Uint8Array, password: string | undefined): Uint8Array {
  const { info, content } = streamsOf(bytes) ?? {};
  if (!info || !content || content.length < 8) {
    if (password === undefined) throw passwordError('Office file', password);
    throw new DocumentError('damaged', 'The encrypted Office file is cut off or damaged');
  }
  const decrypt = packageDecrypter(info, password ?? DEFAULT_PASSWORD);
  if (!decrypt) throw passwordError('Office file', password);
  const size = Number(new DataView(content.buffer, content.byteOffset).getBigUint64(0, true));
  const decrypted = decrypt(content.subarray(8));
  return new Uint8Array(decrypted.subarray(0, Math.min(size, decrypted.length)));
}

function streamsOf(bytes: Uint8Array) {
  try {
    const root = openOle(bytes);
    return { info: root.stream('EncryptionInfo')?.read(), content: root.stream('EncryptedPackage')?.read() };
  } catch (error) {
    if (error instanceof DocumentError && error.kind === 'damaged') return undefined;
    throw error;
  }
}
