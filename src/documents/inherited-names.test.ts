/** Files in which elements, attributes, styles and metadata have names that every JavaScript object inherits. */
import { strToU8, zipSync } from 'fflate';
import { expect, it } from 'vitest';
import { expectPlainNames, INHERITED_NAMES } from '#own-value.suite.ts';
import { canonicalType, typeOfFileName } from './detect.ts';
import type { DocumentKind } from './document.ts';
import { kind as epub } from './epub/epub.ts';
import { kindOf } from './kinds.ts';
import { kind as rtf } from './office/rtf/rtf.ts';
import { kind as ods } from './office/sheet/ods.ts';
import { workbook } from './office/sheet/workbook.suite.ts';
import { kind as xlsx } from './office/sheet/xlsx.ts';
import { deck, paragraph, shape } from './office/slides/deck.suite.ts';
import { kind as pptx } from './office/slides/pptx.ts';
import { docx as docxOf, p, r, style, styled } from './office/word/docx.suite.ts';
import { kind as docx } from './office/word/docx.ts';
import { kind as odt } from './office/word/odt.ts';
import { parse } from './parse.suite.ts';
import { kind as text } from './text/text.ts';
import { kind as xml } from './text/xml.ts';

/** An element without a namespace, with an attribute of the same name. */
const strange = (n: string, inside: string) => `<${n} xmlns="" ${n}="${n}">${inside}</${n}>`;

const ODF = ['office', 'table', 'text', 'style', 'meta', 'number']
  .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(' ');
const odf = (n: string, body: string) =>
  strToU8(`<?xml version="1.0"?><office:document ${ODF} xmlns:dc="http://purl.org/dc/elements/1.1/" ${n}="${n}"><office:meta>${strange(n, 'x')}<dc:title>${n}</dc:title><meta:user-defined meta:name="${n}">y</meta:user-defined><meta:${n}>z</meta:${n}></office:meta><office:automatic-styles>
<style:style style:name="${n}" style:family="${n}" style:parent-style-name="${n}" style:data-style-name="${n}"/><style:style style:name="${n}" style:family="paragraph" style:parent-style-name="${n}"/></office:automatic-styles><office:body>${body}</office:body></office:document>`);

const book = (n: string) =>
  Object.fromEntries(
    Object.entries({
      mimetype: 'application/epub+zip',
      'META-INF/container.xml':
        '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
      'content.opf': `<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${n}</dc:title><dc:${n}>a</dc:${n}><dc:${n}>b</dc:${n}><meta name="${n}" content="c" property="${n}"/></metadata><manifest><item id="${n}" href="${n}.xhtml" media-type="application/xhtml+xml" properties="${n}"/></manifest><spine><itemref idref="${n}"/></spine></package>`,
      [`${n}.xhtml`]: `<html xmlns="http://www.w3.org/1999/xhtml"><body class="${n}"><h1>${n}</h1><${n} ${n}="${n}"><p>in a tag</p></${n}></body></html>`,
    }).map(([name, content]) => [name, strToU8(content)]),
  );

const FILES: readonly (readonly [string, DocumentKind, (name: string) => Uint8Array])[] = [
  ['XML', xml, (n) => strToU8(`<?xml version="1.0"?><${n} ${n}="${n}"><a>&${n};</a></${n}>`)],
  [
    'a feed',
    xml,
    (n) =>
      strToU8(
        `<rss version="2.0" xmlns:${n}="${n}" xmlns:x="${n}"><channel ${n}="${n}"><title>${n}</title><${n}>x</${n}><item><title>${n}</title><link>https://a.example/${n}</link><description>&lt;${n} ${n}="x"&gt;in &lt;b class="${n}"&gt;it&lt;/b&gt;&lt;/${n}&gt;</description><category>${n}</category><pubDate>5 Mar 2024 10:00 ${n}</pubDate><${n}:${n}>y</${n}:${n}></item></channel></rss>`,
      ),
  ],
  [
    'a feed in JSON',
    text,
    (n) =>
      strToU8(
        `{"version":"https://jsonfeed.org/version/1.1","title":"${n}","${n}":{"x":1},"items":[{"id":"${n}","${n}":"z","content_html":"<${n}>x</${n}>","tags":["${n}"],"authors":[{"name":"${n}"}]}]}`,
      ),
  ],
  [
    'DOCX',
    docx,
    (n) =>
      docxOf(
        `${strange(n, p(r('in it')))}${p(r(n, `<w:rStyle w:val="${n}"/>${strange(n, '')}`), `${styled(n)}<w:jc w:val="${n}"/>`)}${p(`<m:oMath>${strange(n, '<m:r><m:t>x</m:t></m:r>')}<m:${n}><m:r><m:rPr><m:scr m:val="${n}"/></m:rPr><m:t>y</m:t></m:r></m:${n}></m:oMath>`)}${p(`<w:${n}>${r('z')}</w:${n}>`)}`,
        { styles: style(n, n), core: `<dc:title>${n}</dc:title><dc:${n}>x</dc:${n}><cp:${n}>y</cp:${n}>` },
      ),
  ],
  [
    'ODT',
    odt,
    (n) =>
      odf(
        n,
        `<office:text>${strange(n, '<text:p>in it</text:p>')}<text:p text:style-name="${n}">${n} <text:span text:style-name="${n}">x</text:span></text:p><text:${n}>y</text:${n}></office:text>`,
      ),
  ],
  [
    'ODS',
    ods,
    (n) =>
      odf(
        n,
        `<office:spreadsheet><table:table table:name="${n}" table:style-name="${n}"><table:table-row><table:table-cell table:style-name="${n}" office:value-type="${n}"><text:p>${n}</text:p>${strange(n, '')}</table:table-cell></table:table-row></table:table></office:spreadsheet>`,
      ),
  ],
  [
    'XLSX',
    xlsx,
    (n) =>
      workbook({
        sheets: [
          {
            name: n,
            rows: `<row r="1"><c r="A1" t="s" s="0"><v>0</v></c><c r="B1" t="${n}"><v>1</v>${strange(n, '')}</c><c r="C1" s="1"><v>45000</v></c></row>`,
          },
        ],
        strings: [`<t>${n}</t>${strange(n, '<t>y</t>')}`],
        styles: `<numFmts count="1"><numFmt numFmtId="170" formatCode="&quot;${n}&quot;0 [${n}]"/></numFmts><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="170"/></cellXfs>${strange(n, '')}`,
        workbook: strange(n, ''),
      }),
  ],
  [
    'PPTX',
    pptx,
    (n) =>
      deck({
        slides: [
          {
            shapes: `${shape({ type: n, index: 1, text: paragraph(n) })}${strange(n, '')}${shape({ type: 'title', text: paragraph(n) })}`,
            notes: paragraph(n),
          },
        ],
        styles: strange(n, ''),
      }),
  ],
  ['EPUB', epub, (n) => zipSync(book(n))],
  [
    'RTF',
    rtf,
    (n) => {
      const word = n.replaceAll('_', '');
      return Buffer.from(
        `{\\rtf1\\ansi\\deff0{\\fonttbl{\\f0\\${word} ${n};}}{\\colortbl;\\${word}5\\red1;}{\\stylesheet{\\s1\\${word} ${n};}}{\\info{\\${word} x}{\\title ${n}}{\\creatim\\${word}5\\yr2024\\mo3\\dy5}}\\${word} {\\*\\${word} unseen}{\\${word}1 ${n}}\\par}`,
      );
    },
  ],
];

it.each(FILES)('%s', async (_, kind, bytesOf) => {
  await expectPlainNames((name) => parse(kind, bytesOf(name)));
});

it('are neither types nor names of files', async () => {
  for (const name of INHERITED_NAMES) {
    expect(canonicalType(name)).toBe(name);
    expect(typeOfFileName(`file.${name}`)).toBeUndefined();
    expect(await kindOf(name)).toBeUndefined();
  }
});
