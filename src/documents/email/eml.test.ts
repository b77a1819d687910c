import { deflateRawSync } from 'node:zlib';
import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { faultOf, htmlOf, parse } from '../parse.suite.ts';
import { kind } from './eml.ts';

const eml = (lines: readonly string[]) => new Uint8Array(Buffer.from(lines.join('\r\n'), 'latin1'));
const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64').replace(/.{76}/g, '$&\r\n');

const HEAD = [
  'From: =?utf-8?q?Ren=C3=A9e?= <renee@pots.example>',
  'To: Ada <ada@pots.example>, =?ISO-8859-1?Q?J=F8rn?=',
  ' <jorn@pots.example>',
  'Subject: =?utf-8?B?w5xi?= =?utf-8?B?ZXIgVG9u?= today',
  'Date: Fri, 1 Mar 2024 10:00:00 +0100',
  'MIME-Version: 1.0',
];

const multipart = (type: string, boundary: string, parts: readonly (readonly string[])[]) => [
  `Content-Type: multipart/${type}; boundary="${boundary}"`,
  '',
  ...parts.flatMap((part) => [`--${boundary}`, ...part]),
  `--${boundary}--`,
  '',
];

const attachment = (name: string, type: string, content: Uint8Array | string) => [
  `Content-Type: ${type}`,
  'Content-Transfer-Encoding: base64',
  `Content-Disposition: attachment; filename="${name}"`,
  '',
  base64(content),
];

const docx = (text: string) =>
  zipSync({
    'word/document.xml': Buffer.from(
      `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:body></w:document>`,
    ),
  });

describe('an email message', () => {
  it('has its fields, decoded, and its text with quotes', async () => {
    const text = ['Hello,', 'the kiln is hot.', '', '> Is it?', '> > It was.', '', '-- ', 'R'];
    const message = await parse(kind, eml([...HEAD, 'Content-Type: text/plain; charset=utf-8', '', ...text]));
    expect(message.title).toBe('Über Ton today');
    expect(message.publishedTime).toBe('2024-03-01T09:00:00Z');
    expect(htmlOf(message)).toBe(
      '<p><b>From:</b> Renée &lt;renee@pots.example&gt;<br><b>To:</b> Ada &lt;ada@pots.example&gt;, Jørn &lt;jorn@pots.example&gt;<br><b>Date:</b> 2024-03-01T09:00:00Z</p>\n' +
        '<p>Hello,<br>the kiln is hot.</p>\n<blockquote><p>Is it?</p>\n<blockquote><p>It was.</p></blockquote></blockquote>\n<p>--<br>R</p>',
    );
  });

  it('shows the HTML of alternatives, in its charset, without layout tables and pixels', async () => {
    const html =
      '<table><tr><td><table><tr><th>Clay</th><th>Price</th></tr><tr><td>Red</td><td>3=80</td></tr></table></td></tr></table><img src=3D"cid:logo"><img src=3D"https://t.example/p.gif" width=3D"1">';
    const parts = multipart('alternative', 'b', [
      ['Content-Type: text/plain', '', 'plain'],
      ['Content-Type: text/html; charset=windows-1252', 'Content-Transfer-Encoding: quoted-printable', '', html],
    ]);
    const found = htmlOf(await parse(kind, eml([...HEAD, ...parts])));
    expect(found).toContain('<th>Clay</th>');
    expect(found).toContain('<td>3€</td>');
    expect(found.match(/<table/g)).toHaveLength(1);
    expect(found).not.toMatch(/plain|<img/);
  });

  it('reads attachments as documents, each a page with its name, and names what it cannot read', async () => {
    const inner = [...HEAD.slice(0, 1), 'Subject: inner', 'Content-Type: text/plain', '', 'inner text'];
    const parts = multipart('mixed', 'b', [
      ['Content-Type: text/html', '', '<p>See <img src="cid:pot@x"> below.</p>'],
      ['Content-Type: image/png; name=pot.png', 'Content-ID: <pot@x>', '', 'x'],
      attachment('glaze.docx', 'application/octet-stream', docx('Glaze follows.')),
      attachment('list.csv', 'text/csv', 'Clay,Price\nRed,3\n'),
      attachment('notes.txt', 'text/plain; charset=utf-8', 'Ash & <sand>'),
      attachment('photo.jpg', 'image/jpeg', Buffer.from('ffd8ffe000', 'hex')),
      attachment('broken.docx', 'application/octet-stream', docx('x').subarray(0, 60)),
      ['Content-Type: message/rfc822', '', ...inner],
      ["Content-Type: text/plain; name*0*=utf-8''%C3%9Cber; name*1*=%20Ton.txt", '', 'last'],
    ]);
    const message = await parse(kind, eml([...HEAD, ...parts]));
    expect(message.pages.slice(1).map(({ html }) => /<h2>(.*?)<\/h2>/.exec(html)?.[1])).toEqual([
      'glaze.docx',
      'list.csv',
      'notes.txt',
      'attachment 6: inner',
      'Über Ton.txt',
    ]);
    expect(message.pageCount).toBe(6);
    expect(message.pages[1]!.html).toContain('<p>Glaze follows.</p>');
    expect(message.pages[2]!.html).toContain('<td>Red</td>');
    expect(message.pages[3]!.html).toContain('<pre>Ash &amp; &lt;sand&gt;</pre>');
    expect(message.pages[4]!.html).toContain('inner text');
    expect(message.notes).toHaveLength(1);
    expect(message.notes[0]).toMatch(/^Attachments that were not read: photo\.jpg \(it is an image\); broken\.docx \(/);
    expect((await parse(kind, eml([...HEAD, ...parts]), 3)).pages.map(({ number }) => number)).toEqual([3]);
  });
});

describe('a hostile message', () => {
  const nested = (depth: number): string[] =>
    Array.from({ length: depth }, (_, n) => [`Subject: n${n}`, 'Content-Type: message/rfc822', '']).flat();

  it('is read to a limit if messages are nested', async () => {
    const message = await parse(kind, eml([...nested(5_000), 'Subject: last', '', 'end']));
    expect(message.pages.length).toBeLessThan(10);
    expect(message.notes.join()).toContain('nested too deeply');
  });

  it('is read to a limit if parts are nested or many', async () => {
    const deep = Array.from({ length: 3_000 }, (_, n) => [
      `Content-Type: multipart/mixed; boundary=b${n}`,
      '',
      `--b${n}`,
    ]);
    expect((await parse(kind, eml(['Subject: deep', ...deep.flat(), '', 'end']))).notes).toEqual([
      'The message has too many parts; some were left out',
    ]);
    const many = multipart(
      'mixed',
      'b',
      Array.from({ length: 5_000 }, () => ['', 'x']),
    );
    expect((await parse(kind, eml(['Subject: many', ...many]))).notes).toContain(
      'The message has too many parts; some were left out',
    );
  });

  it('with a decompression bomb names it and reads the rest', async () => {
    const name = Buffer.from('word/document.xml');
    const content = deflateRawSync(Buffer.alloc(300 * 1024 * 1024, 0x20));
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50);
    local.writeUInt16LE(8, 8);
    local.writeUInt32LE(content.length, 18);
    local.writeUInt16LE(name.length, 26);
    const bomb = Buffer.concat([local, name, content]);
    const parts = multipart('mixed', 'b', [
      attachment('bomb.docx', 'application/octet-stream', bomb),
      attachment('glaze.docx', 'application/octet-stream', docx('Glaze follows.')),
    ]);
    const message = await parse(kind, eml([...HEAD, ...parts]));
    expect(message.notes.join()).toMatch(/bomb\.docx \(the archive is too large when decompressed\)/);
    expect(htmlOf(message)).toContain('Glaze follows.');
  });

  it('takes linear time for long runs in its fields and lines', async () => {
    const run = (text: string) => text.repeat(200_000);
    const begun = performance.now();
    await parse(kind, eml([`Subject: ${run('=?')}`, `Content-Type: text/plain${run(';a')}`, '', run(' ')]));
    await parse(
      kind,
      eml(['Subject: x', 'Content-Transfer-Encoding: quoted-printable', '', `${run(' ')}x${run('=')}`]),
    );
    await parse(kind, eml([`Content-Type: multipart/mixed; boundary=${'-'.repeat(60)}`, '', run('-'), run('\n-')]));
    expect(performance.now() - begun).toBeLessThan(20_000);
  });

  it('that is no message is damaged', async () => {
    expect(await faultOf(parse(kind, eml(['just words'])))).toBe('damaged');
    expect(await faultOf(parse(kind, new Uint8Array()))).toBe('damaged');
  });
});
