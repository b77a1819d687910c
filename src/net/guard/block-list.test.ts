import { describe, expect, it } from 'vitest';
import { parseBlockList } from './block-list.ts';

const LIST = `
# A comment
bad.example
  *.also.example   # with a comment
tea.example/private/*
tea.example/exact
https://secure.example/
http://plain.example/*.exe
*://*.wide.example/x*
*tracker*
192.0.2.7
2001:db8::1
[2001:db8::2]:8080
host.example:8443
bücher.example
under.example/a?b=*
`;
const { list, faults } = parseBlockList(LIST);
const lineOf = (url: string) => list.find(new URL(url))?.line;

describe('a block list', () => {
  it.each([
    ['https://bad.example/', 3],
    ['http://BAD.example.:81/x?y', 3],
    ['https://a.b.bad.example/', 3],
    ['https://also.example/', 4],
    ['https://tea.example/private/', 5],
    ['https://www.tea.example/Private/a/b?c', 5],
    ['https://tea.example/%70rivate/x', 5],
    ['https://tea.example/exact', 6],
    ['https://secure.example/', 7],
    ['http://plain.example/a/b.exe', 8],
    ['https://a.wide.example/xyz', 9],
    ['https://any.example/a?tracker=1', 10],
    ['http://192.0.2.7/', 11],
    ['http://0xC0.0.2.7/', 11],
    ['http://[2001:db8::1]/', 12],
    ['http://[2001:db8:0::2]:8080/', 13],
    ['https://host.example:8443/', 14],
    ['https://xn--bcher-kva.example/', 15],
    ['https://under.example/a?b=c', 16],
  ])('blocks %s', (url, line) => expect(lineOf(url)).toBe(line));

  it.each([
    'https://notbad.example/',
    'https://bad.example.org/',
    'https://tea.example/',
    'https://tea.example/exact/not',
    'https://tea.example/exact?not',
    'https://secure.example/other',
    'http://secure.example/',
    'https://plain.example/a.exe',
    'https://wide.example/x',
    'http://192.0.2.70/',
    'http://[2001:db8::2]/',
    'https://host.example/',
    'https://under.example/a',
  ])('does not block %s', (url) => expect(lineOf(url)).toBeUndefined());

  it('reports lines that are not valid entries, and applies the others', () => {
    const text = 'ok.example\n*\nftp://x.example/*\na b\nhttp//\n@.example\n*://*\nlast.example\r\n';
    const parsed = parseBlockList(text);
    expect(parsed.faults.map(({ line }) => line)).toEqual([2, 3, 4, 6, 7]);
    expect(parsed.list.find(new URL('https://last.example/'))?.line).toBe(8);
    expect(faults).toEqual([]);
  });

  it('takes bounded time for hostile patterns and URLs', () => {
    const { list: hostile } = parseBlockList(`*${'a*'.repeat(500)}b`);
    expect(hostile.find(new URL(`https://x.example/${'a'.repeat(2_000)}`))).toBeUndefined();
    const many = Array.from({ length: 20_000 }, (_, at) => `host-${at}.example`).join('\n');
    expect(parseBlockList(many).list.find(new URL('https://www.host-19999.example/'))?.line).toBe(20_000);
  });
});
