import { createCipheriv, createHash, pbkdf2Sync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { openZip } from '../../archive/zip.ts';
import { faultIn, faultOf, htmlOf } from '../../parse.suite.ts';
import { kind as odt } from '../word/odt.ts';
import { decryptPackage } from './decrypt.ts';

const fixture = (name: string) =>
  new Uint8Array(readFileSync(new URL(`../../../../test/fixtures/office/${name}`, import.meta.url)));

describe.each(['locked-agile.docx', 'locked-standard.docx'])('%s', (name) => {
  const locked = fixture(name);

  it('opens with its password', () => {
    expect(openZip(decryptPackage(locked, 'clay')).text('word/document.xml')).toContain('Glaze follows.');
  });

  it('says whether the password is missing or wrong, without repeating it', () => {
    expect(faultIn(() => decryptPackage(locked, undefined))).toBe('encrypted');
    expect(faultIn(() => decryptPackage(locked, 'Clay'))).toBe('wrong password');
    expect(() => decryptPackage(locked, 'Clay')).toThrow(/^The password in `filePassword` does not open the/);
  });

  it('is damaged if it is cut off anywhere', () => {
    for (let length = 0; length < locked.length; length += 512) {
      const cut = locked.subarray(0, length);
      expect(['encrypted', 'damaged', 'wrong password', 'none', 'unsupported']).toContain(
        faultIn(() => decryptPackage(cut, 'clay')),
      );
      expect(faultIn(() => decryptPackage(cut.subarray(0, 512), undefined))).toBe('encrypted');
    }
  });
});

it('refuses more rounds of hashing than any program uses', () => {
  const bytes = Buffer.from(fixture('locked-agile.docx'));
  const at = bytes.indexOf('spinCount="100000"');
  bytes.write('spinCount="9999999"', at, 'latin1');
  expect(['unsupported', 'damaged']).toContain(faultIn(() => decryptPackage(bytes, 'clay')));
});

/** An OpenDocument text, encrypted as LibreOffice does it. */
function lockedOdt(password: string, rounds = 1_000): Uint8Array {
  const xml = `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text><text:p>Glaze follows.</text:p></office:text></office:body></office:document-content>`;
  const packed = deflateRawSync(xml);
  const [salt, iv] = [randomBytes(16), randomBytes(16)];
  const start = createHash('sha256').update(password).digest();
  const cipher = createCipheriv('aes-256-cbc', pbkdf2Sync(start, salt, rounds, 32, 'sha1'), iv);
  const content = Buffer.concat([cipher.update(packed), cipher.final()]);
  const checksum = createHash('sha256').update(packed.subarray(0, 1_024)).digest('base64');
  const manifest = `<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="content.xml" manifest:size="${xml.length}"><manifest:encryption-data manifest:checksum-type="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0#sha256-1k" manifest:checksum="${checksum}"><manifest:algorithm manifest:algorithm-name="http://www.w3.org/2001/04/xmlenc#aes256-cbc" manifest:initialisation-vector="${iv.toString('base64')}"/><manifest:start-key-generation manifest:start-key-generation-name="http://www.w3.org/2000/09/xmldsig#sha256" manifest:key-size="32"/><manifest:key-derivation manifest:key-derivation-name="PBKDF2" manifest:key-size="32" manifest:iteration-count="${rounds}" manifest:salt="${salt.toString('base64')}"/></manifest:encryption-data></manifest:file-entry></manifest:manifest>`;
  return zipSync({
    mimetype: Buffer.from('application/vnd.oasis.opendocument.text'),
    'META-INF/manifest.xml': Buffer.from(manifest),
    'content.xml': [content, { level: 0 }],
  });
}

describe('an OpenDocument text with a password', () => {
  const read = (bytes: Uint8Array, password: string | undefined) =>
    odt.parse({ path: '', size: bytes.length, mediaType: '', password }, bytes, {});

  it('opens with it', async () => {
    expect(htmlOf(await read(lockedOdt('clé'), 'clé'))).toBe('<p>Glaze follows.</p>');
  });

  it('says whether it is missing or wrong', async () => {
    const bytes = lockedOdt('clay');
    expect(await faultOf(read(bytes, undefined))).toBe('encrypted');
    expect(await faultOf(read(bytes, 'Clay'))).toBe('wrong password');
    expect(await faultOf(read(lockedOdt('clay', 1_000).slice(0, 400), 'clay'))).toBe('damaged');
  });
});
