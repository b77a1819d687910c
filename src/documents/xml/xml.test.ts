import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { faultIn } from '../parse.suite.ts';
import { readPieces } from './pieces.ts';
import { readXml } from './read.ts';
import { attribute, child, childAt, children, descendants, parseXml, parseXmlPrefix, textOf } from './xml.ts';

const W = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const STRICT_W = 'http://purl.oclc.org/ooxml/wordprocessingml/main';

describe('names', () => {
  it('have the prefix of their namespace, not of the file', () => {
    for (const uri of [W, STRICT_W]) {
      const root = parseXml(`<q:p xmlns:q="${uri}" q:val="1" val="2"><r xmlns="${uri}" val="3"/></q:p>`);
      expect(root.name).toBe('w:p');
      expect(attribute(root, 'w:val')).toBe('1');
      expect(attribute(root, 'val')).toBe('2');
      expect(attribute(child(root, 'w:r')!, 'val')).toBe('3');
    }
  });

  it('follow the declarations that hold where they stand', () => {
    const root = parseXml(
      `<a><p:b xmlns:p="${W}"><p:c xmlns:p="urn:other"/><p:d/></p:b><p:e/><f xmlns="${W}"><g xmlns=""/></f></a>`,
    );
    expect([...descendants(root)].map(({ name }) => name)).toEqual(['w:b', '?:c', 'w:d', '?:e', 'w:f', 'g']);
  });
});

describe('text', () => {
  it('is read with references, sections and line ends', () => {
    const root = parseXml(
      '<?xml version="1.0"?><!-- c --><a b="&lt;&quot;\'">x &amp; &#65;&#x42;&unknown;<![CDATA[<&amp;>]]>\r\ny</a>',
    );
    expect(textOf(root)).toBe('x & AB&unknown;<&amp;>\ny');
    expect(attribute(root, 'b')).toBe('<"\'');
  });

  it.each(['utf-16le', 'utf-16be', 'latin1'])('is decoded from %s', (encoding) => {
    const source = `<?xml version="1.0" encoding="${encoding === 'latin1' ? 'iso-8859-1' : 'utf-16'}"?><a>gr\u00fc\u00df</a>`;
    const bytes = encoding === 'latin1' ? Buffer.from(source, 'latin1') : Buffer.from(`\ufeff${source}`, 'utf16le');
    if (encoding === 'utf-16be') bytes.swap16();
    expect(textOf(parseXml(bytes))).toBe('grüß');
  });
});

describe('bad XML', () => {
  it.each([
    '',
    'text',
    '<a>',
    '<a></b>',
    '<a',
    '<a b>',
    '<a b=c/>',
    '<a b="c/>',
    '<a/><b/>',
    '</a>',
    '<a><!-- </a>',
    '<a><![CDATA[</a>',
    '<a>< b/></a>',
  ])('is damaged: %s', (source) => {
    expect(faultIn(() => parseXml(source))).toBe('damaged');
    expect(parseXmlPrefix(source).complete).toBe(false);
  });

  it('keeps what stands before the fault', () => {
    const { root, complete } = parseXmlPrefix('<a><b>1</b><b>2</b><b');
    expect(complete).toBe(false);
    expect(children(root, 'b').map(textOf)).toEqual(['1', '2']);
  });

  it('that defines entities is refused', () => {
    const laughs = '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>';
    expect(faultIn(() => parseXml(laughs))).toBe('damaged');
    expect(faultIn(() => parseXml('<!DOCTYPE a [<!-- <!ENTITY --><!ELEMENT a ANY>]><a/>'))).toBe('none');
    expect(textOf(parseXml('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a>x</a>'))).toBe('x');
  });

  it('that is nested too deep, or has too many nodes, is too large', () => {
    expect(faultIn(() => parseXml('<a>'.repeat(100_000)))).toBe('too large');
    expect(faultIn(() => parseXmlPrefix('<a>'.repeat(1_001)))).toBe('too large');
    expect(faultIn(() => parseXml('<a>'.repeat(1_000) + '</a>'.repeat(1_000)))).toBe('none');
    const many = `<a>${'<b/>'.repeat(10_000_001)}</a>`;
    const handler = { open: () => undefined, close: () => undefined, text: () => undefined };
    expect(faultIn(() => readXml(many, handler))).toBe('too large');
  }, 120_000);

  it('of any kind takes time in proportion to its length', () => {
    const pieces = ['<!--', '<![CDATA[', '<?', '&', '<a b="', "<a b='", '<a ', '&#', ']]>', `<a xmlns:p="${W}"/>`];
    for (const piece of pieces)
      expect(parseXmlPrefix(`<r>${piece.repeat(300_000)}`).root?.name ?? 'none').toMatch(/^(r|none)$/);
  }, 120_000);
});

describe('pieces', () => {
  it('are the children of the named elements', () => {
    const found: string[] = [];
    const source = '<a><x><p>1</p>t<q><x><r/></x></q></x><y><s/></y><x><t>2</t></x></a>';
    expect(readPieces(source, new Set(['x']), (piece) => found.push(piece.name))).toBe(true);
    expect(found).toEqual(['p', 'q', 't']);
  });

  it('before a fault are given', () => {
    const found: string[] = [];
    expect(readPieces('<a><x><p>1</p><q>', new Set(['x']), (piece) => found.push(textOf(piece)))).toBe(false);
    expect(found).toEqual(['1']);
  });
});

/** Small documents that are well-formed, with namespaces. */
const documents = (() => {
  const name = fc.constantFrom('a', 'b', 'w:p', 'w:r', 'o:x');
  const string = fc.string({
    unit: fc.constantFrom('x', ' ', '&', '<', '>', '"', "'", 'ü', '𝑥', '\n', ']'),
    maxLength: 6,
  });
  const escaped = string.map((text) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  );
  const attributes = fc.uniqueArray(fc.tuple(fc.constantFrom('k', 'w:val', 'o:v', 'xmlns', 'xmlns:w'), escaped), {
    selector: ([key]) => key,
    maxLength: 3,
  });
  const { node } = fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { depthSize: 'small' },
      escaped,
      fc.tuple(name, attributes, fc.array(tie('node'), { maxLength: 4 })).map(([tag, pairs, inner]) => {
        const written = pairs.map(
          ([key, value]) => ` ${key}="${key.startsWith('xmlns') ? (value.includes('x') ? W : 'urn:u') : value}"`,
        );
        return inner.length === 0
          ? `<${tag}${written.join('')}/>`
          : `<${tag}${written.join('')}>${inner.join('')}</${tag}>`;
      }),
    ),
  }));
  return node.map((inner) => `<root xmlns:w="${W}" xmlns:o="urn:o">${inner}</root>`);
})();

it('reads what a parser that keeps to the letter of the standard reads', () => {
  fc.assert(
    fc.property(documents, (source) => {
      const prefix = (uri: string) => (uri === '' ? '' : uri === W ? 'w:' : '?:');
      const expected: string[] = [];
      const parser = new SaxesParser({ xmlns: true });
      parser.on('opentag', (tag) => {
        expected.push(`<${prefix(tag.uri)}${tag.local}`);
        for (const entry of Object.values(tag.attributes)) {
          if (!entry.name.startsWith('xmlns'))
            expected.push(`${prefix(entry.uri)}${entry.local}=${entry.value.replace(/\s/g, ' ')}`);
        }
      });
      parser.on('closetag', () => expected.push('>'));
      parser.on('text', (text) => expected.push(text));
      parser.write(source).close();
      const found: string[] = [];
      readXml(source, {
        open(name, attributes) {
          found.push(`<${name}`);
          for (let at = 0; at < attributes.length; at += 2)
            found.push(`${attributes[at]}=${attributes[at + 1]!.replace(/\s/g, ' ')}`);
        },
        close: () => found.push('>'),
        text: (text) => found.push(text),
      });
      expect(found.join('|')).toBe(expected.join('|'));
    }),
    { seed: 7, numRuns: 2_000 },
  );
});

it('finds its way down', () => {
  const root = parseXml('<a><b><c>x<d/>y</c></b></a>');
  expect(textOf(childAt(root, 'b', 'c'))).toBe('xy');
  expect(childAt(root, 'b', 'z', 'c')).toBeUndefined();
});
