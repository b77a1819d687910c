import { describe, expect, it } from 'vitest';
import { type OleTree, writeOle } from '../archive/ole.suite.ts';
import { typeOfContainer } from '../container.ts';
import { TYPES } from '../detect.ts';
import { faultIn, htmlOf, parse } from '../parse.suite.ts';
import { decompressRtf } from './compressed-rtf.ts';
import { kind } from './msg.ts';

const unicode = (text: string) => new Uint8Array(Buffer.from(text, 'utf16le'));
const latin = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'));

/** The table of values with a fixed length, after a header. */
function table(headerBytes: number, values: readonly [id: number, type: number, value: bigint][]): Uint8Array {
  const bytes = Buffer.alloc(headerBytes + values.length * 16);
  for (const [n, [id, type, value]] of values.entries()) {
    const at = headerBytes + n * 16;
    bytes.writeUInt16LE(type, at);
    bytes.writeUInt16LE(id, at + 2);
    bytes.writeBigUInt64LE(value, at + 8);
  }
  return new Uint8Array(bytes);
}

const SENT = (BigInt(Date.UTC(2024, 2, 1, 9)) + 11_644_473_600_000n) * 10_000n;

const recipient = (name: string, address: string, type: bigint): OleTree => ({
  '__properties_version1.0': table(8, [[0x0c15, 3, type]]),
  '__substg1.0_3001001F': unicode(name),
  '__substg1.0_39FE001F': unicode(address),
});

const message = (more: OleTree, headerBytes = 32): OleTree => ({
  '__properties_version1.0': table(headerBytes, [
    [0x0039, 0x40, SENT],
    [0x3ffd, 3, 1251n],
  ]),
  '__substg1.0_0037001F': unicode('Über Ton'),
  '__substg1.0_0C1A001F': unicode('Renée'),
  '__substg1.0_5D01001F': unicode('renee@pots.example'),
  ...more,
});

const stored = (rtf: string) => {
  const bytes = Buffer.alloc(16 + rtf.length);
  bytes.writeUInt32LE(rtf.length + 12, 0);
  bytes.writeUInt32LE(rtf.length, 4);
  bytes.write('MELA', 8, 'latin1');
  bytes.write(rtf, 16, 'latin1');
  return new Uint8Array(bytes);
};

describe('an Outlook message', () => {
  it('has sender, recipients, date and text', async () => {
    const bytes = writeOle(
      message({
        '__substg1.0_1000001E': latin('\xcf\xe5\xf7\xfc\r\n\r\nhot'),
        '__recip_version1.0_#00000000': recipient('Ada', 'ada@pots.example', 1n),
        '__recip_version1.0_#00000001': recipient('Jo', '/O=POTS/CN=JO', 2n),
      }),
    );
    expect(typeOfContainer(TYPES.ole, bytes)).toBe(TYPES.msg);
    const found = await parse(kind, bytes);
    expect(found.title).toBe('Über Ton');
    expect(htmlOf(found)).toBe(
      '<p><b>From:</b> Renée &lt;renee@pots.example&gt;<br><b>To:</b> Ada &lt;ada@pots.example&gt;<br><b>Cc:</b> Jo<br><b>Date:</b> 2024-03-01T09:00:00.000Z</p>\n<p>Печь</p>\n<p>hot</p>',
    );
  });

  it('shows HTML, also from RTF, and RTF', async () => {
    const html = writeOle(message({ '__substg1.0_10130102': latin('<p>a <b>kiln</b></p>') }));
    expect(htmlOf(await parse(kind, html))).toContain('<p>a <b>kiln</b></p>');
    const rtf =
      "{\\rtf1\\ansi\\ansicpg1252\\fromhtml1{\\fonttbl{\\f0 Arial;}}{\\*\\htmltag64 <p>}\\htmlrtf {\\htmlrtf0 caf\\'e9 {\\*\\htmltag84 <b>}\\htmlrtf {\\b\\htmlrtf0 kiln\\htmlrtf }\\htmlrtf0{\\*\\htmltag92 </b>} \\u-10179?\\u-8704?{\\*\\htmltag72 </p>}\\htmlrtf }\\htmlrtf0}";
    const wrapped = htmlOf(await parse(kind, writeOle(message({ '__substg1.0_10090102': stored(rtf) }))));
    expect(wrapped).toContain('<p>café <b>kiln</b> 😀</p>');
    const plain = writeOle(message({ '__substg1.0_10090102': stored('{\\rtf1\\ansi a {\\b kiln}\\par}') }));
    expect(htmlOf(await parse(kind, plain))).toContain('<p>a <b>kiln</b></p>');
  });

  it('reads attached files and messages', async () => {
    const attached = (name: string, more: OleTree): OleTree => ({
      '__properties_version1.0': table(8, []),
      '__substg1.0_3707001F': unicode(name),
      ...more,
    });
    const inner = message({ '__substg1.0_1000001F': unicode('inner text') }, 24);
    const bytes = writeOle(
      message({
        '__substg1.0_10130102': latin('<p><img src="cid:pot"></p>'),
        '__attach_version1.0_#00000000': attached('list.csv', { '__substg1.0_37010102': latin('Clay,Price\nRed,3\n') }),
        '__attach_version1.0_#00000001': attached('mail', { '__substg1.0_3701000D': inner }),
        '__attach_version1.0_#00000002': attached('pot.png', { '__substg1.0_3712001F': unicode('pot') }),
        '__attach_version1.0_#00000003': attached('chart', { '__substg1.0_3701000D': { CONTENTS: latin('x') } }),
      }),
    );
    const found = await parse(kind, bytes);
    expect(found.pages).toHaveLength(3);
    expect(found.pages[1]!.html).toContain('<h2>list.csv</h2>');
    expect(found.pages[2]!.html).toContain('<h2>mail: Über Ton</h2>');
    expect(found.pages[2]!.html).toContain('inner text');
    expect(found.notes).toEqual(['Attachments that were not read: chart (it is an embedded object)']);
  });
});

describe('compressed RTF', () => {
  it('is decompressed (example of MS-OXRTFCP, 4.1)', () => {
    const packed = Buffer.from(
      '2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0',
      'hex',
    );
    expect(Buffer.from(decompressRtf(packed)).toString('latin1')).toBe(
      '{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n',
    );
  });

  it('is bounded by its own size, whatever it claims', () => {
    const packed = Buffer.alloc(16 + 100, 0xff);
    packed.writeUInt32LE(0xffffffff, 4);
    packed.writeUInt32LE(0x75465a4c, 8);
    expect(decompressRtf(packed).length).toBeLessThanOrEqual(900);
    expect(faultIn(() => decompressRtf(new Uint8Array(3)))).toBe('damaged');
  });
});
